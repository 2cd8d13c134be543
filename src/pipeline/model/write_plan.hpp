#pragma once

#include "pipeline/model/decided_precision.hpp"
#include "runtime/tuning/tuner.hpp"
#include "saccade/model.hpp"

namespace saccade {

struct WritePlanOptions {
  ModelOptions model;
  bool tune = true;
  /// Decides Precision::kAuto for the model, which is loaded and computes in fp32, once the output can be written.
  /// Empty, or kAuto: fp32.
  std::function<DecidedPrecision(const Model& model)> choose_precision;
  /// WHAT is "frames" or "tensors"; on the calling thread.
  std::function<void(std::string_view what, const TuneProgress&)> on_progress;
};

/// Statistics of a written plan.
struct WrittenPlan {
  std::string device;
  Precision precision = Precision::kAuto;
  Fp32KeepList keep_fp32;  ///< on frames or on tensors
  std::uintmax_t bytes = 0;
  std::size_t kernels = 0;  ///< number of kernels with machine code
  /// Tuned variants: "frames" (pixels to predictions) if the model is recognised, and "tensors", the model only.
  std::vector<std::pair<std::string, TuneReport>> reports;
  std::string unrecognised;  ///< why there is no variant for frames; empty if there is
  std::chrono::nanoseconds time{};
};

/// Compiles the model at PATH (an ONNX file or a plan), tunes it if the device supports that, and writes it to PLAN.
/// Measurements are read from and added to the tactic cache. Throws Error.
WrittenPlan write_plan(const std::string& path, const std::string& plan, const WritePlanOptions& options);

}  // namespace saccade
