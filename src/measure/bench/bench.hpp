#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure/bench/interleave.hpp"
#include "measure/limits/work.hpp"
#include "measure/statistics/statistics.hpp"
#include "saccade/model.hpp"

namespace saccade {

struct BenchOptions {
  ModelOptions model;
  InterleaveOptions runs;  ///< of all loads together
  int loads = 5;           ///< times that every model is loaded afresh and measured for its share of the time
  int batch = 1;
  int streams = 1;
  FrameSize frame{PixelFormat::kI420, 1280, 720};  ///< what models that are recognised run on
  bool tensors = false;                            ///< raw tensors also where the model is recognised
  bool resident = false;                           ///< raw tensors that stay on the device, in the types it computes in
  bool together = false;                           ///< then all models on one frame, as a pipeline runs them
  std::vector<std::string> peers;                  ///< engines to run beside ours; not empty: raw tensors
  std::string peers_python;
  std::string peers_model;  ///< the ONNX file that peers run; empty: the model's own
  /// The model's inputs, the same for the same seed.
  std::function<std::vector<Tensor>(const Model&, std::uint64_t seed)> draw;
};

/// Runs that took longer than kSlow medians.
struct SlowRuns {
  static constexpr double kSlow = 1.1;
  struct Run {
    std::int64_t number = 0;  ///< among those measured, from 0
    std::chrono::nanoseconds time{};
  };
  std::int64_t count = 0;
  std::vector<Run> slowest;  ///< ten at most, the slowest first
};

/// What was measured of one engine.
struct EngineTimes {
  std::string engine;
  std::string version;
  Distribution latency;
  SlowRuns slow;
  LoadMedians block_medians_ms;
  Estimate median_ms;     ///< of the blocks' medians, and where another run's is to be expected
  double throughput = 0;  ///< images (or batches' rows) a second
  int warm_up = 0;
  int unmeasured = 0;  ///< a block
  std::int64_t peak_bytes = 0;
};

struct PeerTimes {
  EngineTimes times;
  double drift = 0;     ///< ours from this one's
  bool agrees = false;  ///< the drift is small enough
  Estimate ratio;       ///< our median / its median: below 1, ours is faster
  std::string failure;  ///< why there are no times; empty: there are
};

struct BenchedModel {
  std::string file;
  std::string name;
  std::string precision;  ///< that was asked for, or "fp32"; "int8" where the file's graph is quantised
  std::string covers;     ///< what a run is
  bool takes_frames = false;
  int threads = 1;
  std::size_t arena_bytes = 0;  ///< of one stream's execution
  double drift_limit = 0;       ///< of predictions that agree
  bool peak_is_own = true;      ///< the peak is this model's alone, not the process's so far
  EngineTimes own;
  std::vector<StageSummary> stages;  ///< of frames: pre, model, post
  std::vector<PeerTimes> peers;

  /// The fastest one that ran; null without.
  const PeerTimes* best_peer() const;
  bool agrees() const;
};

/// How far the measuring is: SHARE of what LOAD (from 0) asks of FILE; 0 while it is compiled.
using BenchProgress = std::function<void(const std::string& file, int load, double share)>;

/// Compiles models and measures them, one after the other and all of that once for every load, so that what is measured
/// of a model is spread over the whole time. Throws Error naming the file.
std::vector<BenchedModel> bench_models(std::span<const std::string> files, const BenchOptions& options,
                                       const BenchProgress& progress = {});

/// Geometric mean over models of ours / ENGINE; ENGINE empty: ours / best peer. Empty where no model has it.
std::optional<Estimate> geometric_mean(std::span<const BenchedModel> models, std::string_view engine);

}  // namespace saccade
