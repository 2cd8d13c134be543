#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
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
  /// At most, after the warm-up.
  std::int64_t frames = std::numeric_limits<std::int64_t>::max();
  /// At most, after the warm-up; 0: no limit.
  std::chrono::nanoseconds duration = std::chrono::seconds(10);
  bool trace = false;                  ///< record every event of the first frames
  Sink* sink = nullptr;                ///< receives the result of every frame after the warm-up
  const Ceilings* ceilings = nullptr;  ///< of this machine, if known; else they are measured, which takes seconds
  std::chrono::nanoseconds overhead_budget = std::chrono::seconds(2);  ///< for measuring the profiler's own overhead
  std::function<void(double share)> on_ceilings;                       ///< progress of their measurement
  /// Called after every frame with their number; false ends the profile.
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
  std::string detail;  ///< the implementation chosen by a library; may be empty
  Distribution time;
  double share = 0;  ///< of a frame's time on the models' thread, by the means
  Bound bound;
  double headroom = 0;                   ///< of the median
  std::chrono::nanoseconds gap_after{};  ///< mean idle time until the next launch
};

struct StageProfile {
  std::string name;  ///< "capture", "queue", "pre", "model", "post", "total"
  Distribution time;
  double share = 0;            ///< of the total, by the means
  std::optional<Bound> bound;  ///< of the capture: writing the frame; waits have none
  double headroom = 0;         ///< of the median
};

/// Idle time per frame, without a running launch.
struct IdleGaps {
  Distribution within;   ///< between a frame's first and last launch, total
  Distribution waiting;  ///< the models are idle until a frame arrives
  Distribution between;  ///< from a result to the request of the next frame: sinks, and the profile itself
};

/// A second model on the objects.
struct SecondProfile {
  std::string model;
  std::shared_ptr<const Plan> plan;
  FrameSize crop;                       ///< the last one
  double crops = 0;                     ///< per frame, the mean
  std::vector<LaunchProfile> launches;  ///< of a frame's last crop; shares are of all its crops
};

/// The result of a profile.
struct Profile {
  std::string model;
  std::string source;     ///< empty: random tensors
  std::string frame;      ///< "1280x720 i420"; empty with random tensors
  std::size_t tiles = 1;  ///< runs per frame; launches are those of the last one
  FrameSize tile;         ///< input of the first one
  std::shared_ptr<const Plan> plan;
  bool is_live = false;
  std::int64_t frames = 0;
  std::int64_t warm_up = 0;  ///< frames before the measurement
  std::chrono::nanoseconds elapsed{};
  double frames_per_second = 0;

  std::vector<StageProfile> stages;
  std::vector<LaunchProfile> launches;
  std::optional<SecondProfile> second;  ///< its time is part of the stage "model"
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

/// Runs MODEL on the frames of URI, looped if it is shorter than OPTIONS require. Throws Error as Pipeline does.
Profile profile_frames(const Model& model, const std::string& uri, const ProfileOptions& options);

/// Runs MODEL repeatedly on the same synthetic tensors, for a model that is not recognised.
Profile profile_tensors(const Model& model, const ProfileOptions& options);

/// The node's display name: its operator, with a convolution's window, and what is fused into it.
std::string operation_name(const Graph& graph, const Node& node);

}  // namespace saccade
