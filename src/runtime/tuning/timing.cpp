#include "runtime/tuning/timing.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "ops/core/dispatch.hpp"
#include "tensor/frame.hpp"

// A candidate is timed inside the whole plan, not alone: its start under programmatic launch, its weights in the cache
// and the blocks of its neighbours matter as much as its own work. Candidates of a node class take turns, so that
// thermal throttling affects all of them equally.
namespace saccade {
namespace {

using std::chrono::nanoseconds;

constexpr int kRounds = 7;                // for candidates near the best
constexpr nanoseconds kBlock{5'000'000};  // run time of a candidate in a round
constexpr double kNear = 1.02;            // of the best time: takes part in further rounds
constexpr std::size_t kMaxNear = 4;       // candidates in further rounds
constexpr double kSlow = 1.5;             // of the first candidate's time: one run suffices

constexpr std::size_t kLaunchRounds = 16;  // of variants whose launches are timed one by one

constexpr int kFrameWidth = 1280;
constexpr int kFrameHeight = 720;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double time_block(Variant& variant) {
  const auto once = std::max<nanoseconds>(variant.time(1), nanoseconds(1));
  const auto runs = std::clamp<std::int64_t>(kBlock / once, 1, 100);
  return static_cast<double>(variant.time(static_cast<int>(runs)).count());
}

/// One candidate in the plan, and its times by round.
struct Trial {
  std::size_t candidate = 0;
  std::vector<Step> steps;
  std::unique_ptr<Variant> variant;
  std::vector<double> times;

  double first() const { return times.front(); }
};

/// A first round over all candidates. Slow ones are dropped.
std::vector<Trial> first_round(const StepCompiler& compiler, Runner& runner, const NodeClass& node_class,
                               const std::vector<Step>& steps, ProgressCounter& progress) {
  std::vector<Trial> trials;
  for (std::size_t c = 0; c < node_class.candidates.size(); ++c) {
    Trial trial{.candidate = c,
                .steps = compiler.replace(steps, node_class.steps, node_class.candidates[c].choice),
                .variant = {},
                .times = {}};
    trial.variant = runner.make_variant(trial.steps);
    static_cast<void>(trial.variant->time(1));  // a graph's first launch uploads it
    const double once = static_cast<double>(trial.variant->time(1).count());
    if (trials.empty() || once <= kSlow * trials.front().first()) {
      trial.times.push_back(time_block(*trial.variant));
      trials.push_back(std::move(trial));
    }
    progress.advance(1);
    progress.report();
  }
  return trials;
}

/// Sorts by the first round's time. Keeps the incumbent, for comparison, and the candidates near the best.
void keep_near(std::vector<Trial>& trials, std::size_t incumbent) {
  std::ranges::sort(trials, {}, &Trial::first);
  const double best = trials.front().first();
  std::size_t near = 0;
  std::erase_if(trials, [&](const Trial& trial) {
    return trial.candidate != incumbent && (trial.first() > kNear * best || ++near > kMaxNear);
  });
}

}  // namespace

void RandomInputs::fill(Runner& runner, const Graph& graph) {
  std::mt19937 random(1);
  for (ValueId id : graph.inputs()) {
    const TensorView view = runner.view(id);
    if (view.data == nullptr || view.dtype == DType::kFrame) continue;
    std::memset(view.data, 0, bytes_of(view.dtype, view.shape));
    if (!is_float(view.dtype)) continue;
    std::uniform_real_distribution<float> reals(0, 1);
    with_number(view.dtype, [&]<typename T>(std::type_identity<T>) {
      for (T& element : view.as<T>()) element = static_cast<T>(reals(random));
    });
  }
  if (runner.frames().empty()) return;
  pixels_.resize(frame_bytes(PixelFormat::kNv12, kFrameWidth, kFrameHeight));
  for (std::byte& byte : pixels_) byte = static_cast<std::byte>(random());
  std::ranges::fill(runner.frames(), lay_out({.data = pixels_.data(), .capacity = pixels_.size()}, PixelFormat::kNv12,
                                             kFrameWidth, kFrameHeight));
}

double time_steps(Runner& runner, std::span<const Step> steps) {
  const auto variant = runner.make_variant(steps);
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) times.push_back(time_block(*variant));
  return median(times);
}

void time_candidates(const StepCompiler& compiler, Runner& runner, NodeClass& node_class, std::vector<Step>& steps,
                     double min_gain, ProgressCounter& progress) {
  std::vector<Trial> trials = first_round(compiler, runner, node_class, steps, progress);
  keep_near(trials, node_class.chosen);
  if (trials.size() > 1)
    for (int round = 1; round < kRounds; ++round)
      for (Trial& trial : trials) trial.times.push_back(time_block(*trial.variant));
  for (const Trial& trial : trials) node_class.candidates[trial.candidate].best = median(trial.times);
  const auto time_of = [&](const Trial& trial) { return node_class.candidates[trial.candidate].best; };
  auto best = std::ranges::min_element(trials, {}, time_of);
  const auto incumbent = std::ranges::find(trials, node_class.chosen, &Trial::candidate);
  if (incumbent != trials.end() && time_of(*best) > (1 - min_gain) * time_of(*incumbent)) best = incumbent;
  node_class.chosen = best->candidate;
  steps = std::move(best->steps);
}

RunTimes time_candidates_by_launch(const StepCompiler& compiler, Runner& runner, std::vector<NodeClass>& classes,
                                   std::vector<Step>& steps, double min_gain, ProgressCounter& progress) {
  std::size_t most = 0;
  for (const NodeClass& node_class : classes) most = std::max(most, node_class.candidates.size());
  std::vector<Trial> trials;
  for (std::size_t c = 0; c < most; ++c) {
    Trial trial{.candidate = c, .steps = steps, .variant = {}, .times = {}};
    for (const NodeClass& node_class : classes)
      if (c < node_class.candidates.size())
        trial.steps = compiler.replace(std::move(trial.steps), node_class.steps, node_class.candidates[c].choice);
    trial.variant = runner.make_variant(trial.steps);
    trials.push_back(std::move(trial));
  }
  const std::size_t candidates = count_candidates(classes);
  for (std::size_t round = 0; round < kLaunchRounds; ++round) {
    for (const Trial& trial : trials) static_cast<void>(trial.variant->time(1));
    progress.report(candidates * round / kLaunchRounds);
  }
  progress.advance(candidates);
  RunTimes times;
  for (const nanoseconds time : trials.front().variant->step_times()) times.before += static_cast<double>(time.count());
  times.after = times.before;
  for (NodeClass& node_class : classes) {
    for (std::size_t c = 0; c < node_class.candidates.size(); ++c)
      for (const std::size_t step : node_class.steps)
        node_class.candidates[c].best += static_cast<double>(trials[c].variant->step_times()[step].count());
    const auto best = std::ranges::min_element(node_class.candidates, {}, &Candidate::best);
    const double gain = node_class.candidates[node_class.chosen].best - best->best;
    if (gain >= min_gain * times.before) {
      times.after -= gain;
      node_class.chosen = static_cast<std::size_t>(best - node_class.candidates.begin());
    }
    // Also without a gain: the plan's own tactic may have been rejected.
    for (const std::size_t step : node_class.steps) steps[step] = trials[node_class.chosen].steps[step];
  }
  return times;
}

}  // namespace saccade
