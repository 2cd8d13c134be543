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
  int loads = 5;           ///< fresh loads of every model, each measured for its share of the time
  int batch = 1;
  int streams = 1;
  FrameSize frame{PixelFormat::kI420, 1280, 720};  ///< input of recognised models
  bool from_frames = false;                        ///< a batch above 1 as so many frames, else raw tensors
  bool tensors = false;                            ///< raw tensors even if the model is recognised
  bool resident = false;                           ///< raw tensors that stay on the device, in its compute types
  bool together = false;                           ///< all models on one frame, as a pipeline runs them
  std::vector<std::string> peers;                  ///< engines to compare with; not empty: raw tensors
  std::string peers_python;
  std::string peers_model;  ///< the ONNX file for peers; empty: the model's own
  /// Generates the model's inputs, deterministically by seed.
  std::function<std::vector<Tensor>(const Model&, std::uint64_t seed)> draw;
};

/// Runs that took longer than kSlow medians.
struct SlowRuns {
  static constexpr double kSlow = 1.1;
  struct Run {
    std::int64_t number = 0;  ///< among the measured runs, from 0
    std::chrono::nanoseconds time{};
  };
  std::int64_t count = 0;
  std::vector<Run> slowest;  ///< up to ten, in descending order
};

/// The measurements of one engine.
struct EngineTimes {
  std::string engine;
  std::string version;
  Distribution latency;
  SlowRuns slow;
  LoadMedians block_medians_ms;
  Estimate median_ms;     ///< of the blocks' medians, with the interval in which another run's is expected
  double throughput = 0;  ///< images (or rows of the batch) per second
  int warm_up = 0;
  int unmeasured = 0;  ///< per block
  std::int64_t peak_bytes = 0;
};

struct PeerTimes {
  EngineTimes times;
  double drift = 0;     ///< of our outputs from this engine's
  bool agrees = false;  ///< the drift is within the limit
  Estimate ratio;       ///< our median / its median: below 1, ours is faster
  std::string failure;  ///< why there are no times; empty: there are
};

struct BenchedModel {
  std::string file;
  std::string name;
  std::string precision;  ///< requested, or "fp32"; "int8" if the file's graph is quantized
  std::string covers;     ///< what a run comprises
  bool takes_frames = false;
  int threads = 1;
  std::size_t arena_bytes = 0;  ///< per stream
  double drift_limit = 0;       ///< for predictions to agree
  bool peak_is_own = true;      ///< the peak is this model's alone, not that of the process so far
  EngineTimes own;
  std::vector<StageSummary> stages;  ///< of frames: pre, model, post
  std::vector<PeerTimes> peers;

  /// The fastest one that ran; null if there is none.
  const PeerTimes* best_peer() const;
  bool agrees() const;
};

/// Progress: SHARE of LOAD (from 0) of FILE; 0 while it is compiled.
using BenchProgress = std::function<void(const std::string& file, int load, double share)>;

/// Compiles and measures all models, once per load, so that each model's measurements are spread over the whole time.
/// Throws Error naming the file.
std::vector<BenchedModel> bench_models(std::span<const std::string> files, const BenchOptions& options,
                                       const BenchProgress& progress = {});

/// Geometric mean over models of ours / ENGINE; ENGINE empty: ours / best peer. Empty if no model has it.
std::optional<Estimate> geometric_mean(std::span<const BenchedModel> models, std::string_view engine);

}  // namespace saccade
