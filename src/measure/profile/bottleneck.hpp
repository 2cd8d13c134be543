#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics/units.hpp"

namespace saccade {

/// What limits a pipeline's speed.
enum class BottleneckKind : std::uint8_t {
  kCapture,   ///< the source is slower than the models
  kQueue,     ///< a live frame waits longer than it is processed
  kStage,     ///< pre-processing or post-processing takes longest
  kOverhead,  ///< launches so small that launch overhead dominates
  kFallback,  ///< an operator without a tactic
  kSlack,     ///< the largest launches are far from their bounds
  kMemory,    ///< near a bandwidth bound
  kCompute,   ///< near a compute bound
};
std::string_view to_string(BottleneckKind kind);

/// Facts about one launch.
struct LaunchFacts {
  std::string name;  ///< display name: "Conv 3x3+Silu"
  std::string tactic;
  Nanoseconds time{};   ///< median
  Nanoseconds bound{};  ///< 0: unknown
  std::string limiter;  ///< as in Bound
};

/// Medians of a frame's times over a run.
struct RunFacts {
  bool is_live = false;
  int threads = 1;
  int cores = 1;
  Nanoseconds capture{};
  Nanoseconds queue{};
  Nanoseconds waiting{};  ///< mean time that the models wait for a frame: usually few frames wait long
  Nanoseconds pre{};
  Nanoseconds model{};
  Nanoseconds post{};
  Nanoseconds gaps{};  ///< between launches
  std::vector<LaunchFacts> launches;

  Nanoseconds work() const { return pre + model + post; }
};

struct Bottleneck {
  BottleneckKind kind = BottleneckKind::kCompute;
  std::string stage;     ///< "capture", "queue", "pre", "model" or "post"
  std::string sentence;  ///< one sentence with a suggestion
};

/// Identifies what to optimize first. A pure function of FACTS.
Bottleneck find_bottleneck(const RunFacts& facts);

}  // namespace saccade
