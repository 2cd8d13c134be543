#include "measure/profile/bottleneck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace saccade {
namespace {

// From this share of waiting on, the source limits the rate.
constexpr double kStarved = 0.1;
// Shorter launches are mostly launch overhead.
constexpr Nanoseconds kSmallLaunch{5000};
constexpr double kMuchOverhead = 0.25;
constexpr double kMuchFallback = 0.1;
// Above this share of a bound, better code for the same arithmetic gains little.
constexpr double kNearBound = 0.6;

std::string share_of(Nanoseconds part, Nanoseconds whole) { return percent_text(whole.count() > 0 ? part / whole : 0); }

Nanoseconds sum_of(const std::vector<LaunchFacts>& launches, auto&& wanted) {
  Nanoseconds sum{};
  for (const LaunchFacts& launch : launches)
    if (wanted(launch)) sum += launch.time;
  return sum;
}

const LaunchFacts* longest(const std::vector<LaunchFacts>& launches) {
  const auto found = std::ranges::max_element(launches, {}, &LaunchFacts::time);
  return found == launches.end() ? nullptr : &*found;
}

Bottleneck capture_bound(const RunFacts& facts) {
  const char* advice = facts.is_live ? "the camera is the bottleneck: request a higher rate or a smaller frame"
                                     : "use smaller frames, a cheaper codec, or several concurrent sources";
  return {BottleneckKind::kCapture, "capture",
          fmt::format("Capture takes {} per frame and the models {}; they wait for a frame {} of the time: {}.",
                      duration_text(facts.capture), duration_text(facts.work()),
                      share_of(facts.waiting, facts.waiting + facts.work()), advice)};
}

Bottleneck queue_bound(const RunFacts& facts) {
  return {BottleneckKind::kQueue, "queue",
          fmt::format("A frame waits {} in the queue and is processed for {}: shorten the queue (--queue 1, --drop "
                      "oldest), or reduce the source's frame rate.",
                      duration_text(facts.queue), duration_text(facts.work()))};
}

Bottleneck stage_bound(const RunFacts& facts, const std::string& stage, Nanoseconds time) {
  const char* advice = stage == "pre" ? "use frames closer to the model's input size, or crop them with --roi"
                                      : "raise --conf, lower --max-det, or keep only the --classes that matter";
  return {BottleneckKind::kStage, stage,
          fmt::format("The {} takes {} of a frame, more than the model: {}.",
                      stage == "pre" ? "preprocessing" : "postprocessing", share_of(time, facts.work()), advice)};
}

/// "The model takes 83 % of a frame; ".
std::string about_model(const RunFacts& facts) {
  return fmt::format("The model takes {} of a frame; ", share_of(facts.model, facts.work()));
}

Bottleneck overhead_bound(const RunFacts& facts, Nanoseconds overhead) {
  const auto small = std::ranges::count_if(facts.launches, [](const auto& each) { return each.time < kSmallLaunch; });
  const char* advice = facts.threads > 1 ? "try fewer --threads, which synchronise after every launch"
                                         : "try a larger batch or a model with fewer, larger layers";
  return {
      BottleneckKind::kOverhead, "model",
      about_model(facts) +
          fmt::format(
              "{} of its {} launches take less than {}; with the gaps between launches they are {} of the frame: {}.",
              small, facts.launches.size(), duration_text(kSmallLaunch), share_of(overhead, facts.work()), advice)};
}

Bottleneck fallback_bound(const RunFacts& facts, Nanoseconds time) {
  std::map<std::string, Nanoseconds> by_name;
  for (const LaunchFacts& launch : facts.launches)
    if (launch.tactic == "reference") by_name[launch.name] += launch.time;
  const auto worst = std::ranges::max_element(by_name, {}, [](const auto& each) { return each.second; });
  return {BottleneckKind::kFallback, "model",
          fmt::format(
              "{} of a frame is spent in operators that only the slow reference kernel supports, mostly {} ({}): "
              "`saccade inspect` shows why the other tactics were rejected; export the model without these operators.",
              share_of(time, facts.work()), worst->first, share_of(worst->second, facts.work()))};
}

/// The limiter of most of the bounded time.
std::string limiter_of(const std::vector<LaunchFacts>& launches) {
  std::map<std::string, Nanoseconds> sums;
  for (const LaunchFacts& launch : launches)
    if (!launch.limiter.empty()) sums[launch.limiter] += launch.bound;
  const auto largest = std::ranges::max_element(sums, {}, [](const auto& each) { return each.second; });
  return largest == sums.end() ? std::string() : largest->first;
}

Bottleneck model_bound(const RunFacts& facts) {
  const LaunchFacts* largest = longest(facts.launches);
  std::string text = about_model(facts);
  if (largest == nullptr) return {BottleneckKind::kCompute, "model", text + "try a smaller model."};
  text += fmt::format("its largest launch is {} ({})", largest->name, share_of(largest->time, facts.work()));
  if (largest->bound.count() > 0) text += fmt::format(", at {} of its bound", share_of(largest->bound, largest->time));
  const Nanoseconds bound = [&] {
    Nanoseconds sum{};
    for (const LaunchFacts& launch : facts.launches) sum += launch.bound;
    return sum;
  }();
  const Nanoseconds time = sum_of(facts.launches, [](const LaunchFacts&) { return true; });
  const std::string limiter = limiter_of(facts.launches);
  if (bound.count() <= 0 || bound / time < kNearBound) {
    const std::string whole =
        bound.count() > 0 ? fmt::format("; all launches together are at {}", percent_text(bound / time)) : "";
    const std::string advice =
        facts.threads < facts.cores
            ? fmt::format("try --threads {}", facts.cores)
            : "the headroom is in the kernels: compare tactics and keep the cores free of other work";
    return {BottleneckKind::kSlack, "model", fmt::format("{}{}: {}.", text, whole, advice)};
  }
  if (limiter == "compute")
    return {BottleneckKind::kCompute, "model",
            fmt::format("{}; it is compute-bound: try a lower precision, a smaller input or a smaller model.", text)};
  return {BottleneckKind::kMemory, "model",
          fmt::format("{}; it is memory-bound ({}): try a lower precision or a smaller input, whose activations fit a "
                      "closer cache.",
                      text, limiter)};
}

}  // namespace

std::string_view to_string(BottleneckKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"capture",  "queue", "stage",  "overhead",
                                                      "fallback", "slack", "memory", "compute"};
  return kNames[static_cast<std::size_t>(kind)];
}

Bottleneck find_bottleneck(const RunFacts& facts) {
  const Nanoseconds work = facts.work();
  // A camera's frames arrive at its own rate; with a faster file, the models wait by accident only.
  const bool is_slow = facts.is_live || facts.capture > work;
  if (is_slow && facts.waiting > kStarved * (facts.waiting + work)) return capture_bound(facts);
  // A file is read ahead, so its frames always wait.
  if (facts.is_live && facts.queue > work) return queue_bound(facts);
  if (facts.pre > std::max(facts.model, facts.post)) return stage_bound(facts, "pre", facts.pre);
  if (facts.post > facts.model) return stage_bound(facts, "post", facts.post);
  const Nanoseconds fallback = sum_of(facts.launches, [](const auto& each) { return each.tactic == "reference"; });
  if (fallback > kMuchFallback * work) return fallback_bound(facts, fallback);
  const Nanoseconds small = sum_of(facts.launches, [](const auto& each) { return each.time < kSmallLaunch; });
  if (small + facts.gaps > kMuchOverhead * work) return overhead_bound(facts, small + facts.gaps);
  return model_bound(facts);
}

}  // namespace saccade
