#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics/units.hpp"

namespace saccade {

/// What keeps a pipeline from being faster.
enum class BottleneckKind : std::uint8_t {
  kCapture,   ///< the source is slower than the models
  kQueue,     ///< a live frame waits longer than it is worked on
  kStage,     ///< pixels before or answers after the model take longest
  kOverhead,  ///< launches so small that starting them is what takes time
  kFallback,  ///< an operator without a tactic of its own
  kSlack,     ///< the largest launches are far from what the machine could do
  kMemory,    ///< near a bound that bandwidth sets
  kCompute,   ///< near a bound that arithmetic sets
};
std::string_view to_string(BottleneckKind kind);

/// What is known about one launch.
struct LaunchFacts {
  std::string name;  ///< as a person would call it: "Conv 3x3+Silu"
  std::string tactic;
  Nanoseconds time{};   ///< median
  Nanoseconds bound{};  ///< 0: not known
  std::string limiter;  ///< as Bound has it
};

/// Medians of a frame's times over a run.
struct RunFacts {
  bool is_live = false;
  int threads = 1;
  int cores = 1;
  Nanoseconds capture{};
  Nanoseconds queue{};
  Nanoseconds waiting{};  ///< of the models for a frame, the mean: most frames wait for nothing where some wait long
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
  std::string sentence;  ///< one, with what to try
};

/// Names what to work on first. Pure arithmetic on FACTS.
Bottleneck find_bottleneck(const RunFacts& facts);

}  // namespace saccade
