#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/limits/bounds.hpp"
#include "measure/profile/bottleneck.hpp"
#include "measure/profile/overhead.hpp"
#include "measure/profile/recorder.hpp"
#include "saccade/model.hpp"
#include "saccade/sinks.hpp"

namespace saccade {

struct ProfileOptions {
  std::int64_t frames = 10000;          ///< at most, after the warm-up
  std::chrono::nanoseconds duration{};  ///< at most, after the warm-up; 0: no limit
  bool trace = false;                   ///< keep every moment of the first frames
  Sink* sink = nullptr;                 ///< gets the result of every frame after the warm-up
  const Ceilings* ceilings = nullptr;   ///< of this machine, if they are known; else they are measured, for seconds
  std::chrono::nanoseconds overhead_budget = std::chrono::seconds(2);  ///< to measure the profiler's own cost
  std::function<void(double share)> on_ceilings;                       ///< how much of their measurement is done
  /// Called after every frame with how many there were; false ends the profile in order.
  std::function<bool(std::int64_t frames)> on_frame;
};

/// One launch of the plan over all frames.
struct LaunchProfile {
  std::size_t step = 0;   ///< of the plan
  std::string node;       ///< its name in the model
  std::string operation;  ///< "Conv 3x3+Silu"
  std::string output;     ///< "float32 [1, 64, 104, 104]"
  Stage stage = Stage::kModel;
  std::string tactic;
  std::string detail;  ///< which implementation a library chose; may be empty
  Distribution time;
  double share = 0;  ///< of a frame's time on the models' thread, by the means
  Bound bound;
  double headroom = 0;                   ///< of the median
  std::chrono::nanoseconds gap_after{};  ///< mean, until the next launch
};

struct StageProfile {
  std::string name;  ///< "capture", "queue", "pre", "model", "post", "total"
  Distribution time;
  double share = 0;            ///< of the total, by the means
  std::optional<Bound> bound;  ///< of a capture: that the frame must be written; waits have none
  double headroom = 0;         ///< of the median
};

/// When no launch ran, a frame.
struct IdleGaps {
  Distribution within;   ///< between a frame's first and last launch, together
  Distribution waiting;  ///< the models ready, for a frame to come
  Distribution between;  ///< from a result to the demand for the next frame: sinks, and the profile itself
};

/// All that is known after a run.
struct Profile {
  std::string model;
  std::string source;  ///< empty: random tensors
  std::string frame;   ///< "1280x720 i420"; empty with random tensors
  std::shared_ptr<const Plan> plan;
  bool is_live = false;
  std::int64_t frames = 0;
  std::int64_t warm_up = 0;  ///< frames before, which count nowhere
  std::chrono::nanoseconds elapsed{};
  double frames_per_second = 0;

  std::vector<StageProfile> stages;
  std::vector<LaunchProfile> launches;
  IdleGaps gaps;
  Distribution frame_time;  ///< on the models' thread
  Histogram latency;        ///< of the total
  std::vector<TimelineColumn> timeline;
  std::int64_t frames_a_column = 1;
  TraceRecord trace;
  PlanBounds bounds;
  Ceilings ceilings;
  Overhead overhead;
  Bottleneck bottleneck;
};

/// Runs MODEL on the frames of URI, looped where it is shorter than OPTIONS ask for. Throws Error as Pipeline does.
Profile profile_frames(const Model& model, const std::string& uri, const ProfileOptions& options);

/// Runs MODEL again and again on the same made-up tensors: what can be said of one that is not recognised.
Profile profile_tensors(const Model& model, const ProfileOptions& options);

/// What a person would call the node: its operator, with a convolution's window, and what is fused into it.
std::string operation_name(const Graph& graph, const Node& node);

}  // namespace saccade
