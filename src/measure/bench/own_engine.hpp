#pragma once

#include <array>
#include <functional>
#include <memory>

#include "measure/peers/contender.hpp"

namespace saccade {

/// Durations of one run's stages, by Stage.
using InferenceTimes = std::array<std::chrono::nanoseconds, 3>;

/// One inference, on bound inputs.
using Inference = std::function<InferenceTimes()>;

/// Our engine as a contender: STREAMS threads, each with its own inference, run concurrently.
class OwnEngine : public Contender {
 public:
  /// MAKE is called once on every stream's thread.
  OwnEngine(const std::function<Inference()>& make, int streams);
  ~OwnEngine() override;

  const std::string& name() const override { return name_; }
  /// Every stream runs until each has RUNS measured ones, so that all are measured under the same load. Throws the
  /// inference's errors.
  Block run(int unmeasured, int runs) override;
  void wait_until_idle() override;

 private:
  struct Streams;
  std::string name_ = "saccade";
  std::unique_ptr<Streams> streams_;
};

}  // namespace saccade
