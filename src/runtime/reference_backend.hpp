#pragma once

#include <vector>

#include "runtime/runner.hpp"
#include "runtime/tactic.hpp"

namespace saccade {

/// Runs a node's reference kernel on the calling thread: slow, and the only tactic that may allocate while it runs
/// (reference kernels keep small vectors). The fallback of every backend.
const Tactic& reference_tactic();

/// The operators as their reference kernels define them, row-major: the reference for other backends.
class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::span<const Tactic* const> tactics() const override { return tactics_; }
  Target target() const override {
    return {.layout_rule = [](const Graph&, const Node&) { return LayoutRule::kRowMajor; }};
  }
  std::unique_ptr<Runner> make_runner(const Plan& plan) const override { return make_host_runner(plan); }
  void prepare_thread(int) const override {}
  std::string device_name() const override { return "the reference kernels"; }

 private:
  std::vector<const Tactic*> tactics_{&reference_tactic()};
};

const Backend& reference_backend();

}  // namespace saccade
