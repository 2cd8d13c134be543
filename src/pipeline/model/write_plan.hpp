#pragma once

#include "passes/core/pass.hpp"
#include "runtime/tuner.hpp"
#include "saccade/model.hpp"

namespace saccade {

struct WritePlanOptions {
  ModelOptions model;
  bool tune = true;
  /// WHAT is "frames" or "tensors"; on the calling thread.
  std::function<void(std::string_view what, const TuneProgress&)> on_progress;
};

/// A plan that was written, and what it cost.
struct WrittenPlan {
  std::string device;
  std::string precision;
  ValueNames stay_wide;  ///< values that the precision does not narrow, on frames or on tensors
  std::uintmax_t bytes = 0;
  std::size_t kernels = 0;  ///< whose machine code it holds
  /// What it was tuned for: "frames" (pixels to answers) where the model is recognised, and "tensors", the model alone.
  std::vector<std::pair<std::string, TuneReport>> reports;
  std::string unrecognised;  ///< why it was not made for frames; empty: it was
  std::chrono::nanoseconds time{};
};

/// Compiles the model at PATH (an ONNX file or a plan), tunes it for its device where that can be, and writes it to
/// PLAN. What was measured goes into the cache of tactics, too; what stands there is not measured again. Throws Error.
WrittenPlan write_plan(const std::string& path, const std::string& plan, const WritePlanOptions& options);

}  // namespace saccade
