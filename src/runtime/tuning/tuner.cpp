#include "runtime/tuning/tuner.hpp"

#include <algorithm>
#include <functional>

#include "runtime/tuning/candidates.hpp"
#include "runtime/tuning/progress.hpp"
#include "runtime/tuning/step_compiler.hpp"
#include "runtime/tuning/timing.hpp"

namespace saccade {
namespace {

constexpr std::size_t kKeptForSecondPass = 4;  // candidates of a node class

void run_once(Runner& runner) {
  runner.submit();
  runner.wait();
}

/// Measures the cost of the node classes, by events between launches; sorts them by descending cost.
void measure_costs(Runner& runner, std::size_t steps, std::vector<NodeClass>& classes) {
  std::vector<StepTime> times(steps);
  runner.time_steps(times);
  run_once(runner);
  run_once(runner);
  runner.time_steps({});
  for (NodeClass& node_class : classes)
    for (std::size_t step : node_class.steps) node_class.cost += static_cast<double>(times[step].duration().count());
  std::ranges::stable_sort(classes, std::greater(), &NodeClass::cost);
}

/// Keeps the fastest candidates for the second pass, and the chosen one.
void keep_fastest(NodeClass& node_class) {
  std::vector<Candidate>& candidates = node_class.candidates;
  const TacticChoice chosen = candidates[node_class.chosen].choice;
  std::erase_if(candidates, [&](const Candidate& each) { return each.best == 0 && !(each.choice == chosen); });
  std::ranges::stable_sort(candidates, {}, &Candidate::best);
  const std::size_t dropped = candidates.size() - std::min(candidates.size(), kKeptForSecondPass);
  for (std::size_t i = 0; i < dropped && !(candidates.back().choice == chosen); ++i) candidates.pop_back();
  node_class.chosen =
      static_cast<std::size_t>(std::ranges::find(candidates, chosen, &Candidate::choice) - candidates.begin());
}

class Tuner {
 public:
  Tuner(Graph graph, const Backend& backend, const TuneOptions& options)
      : options_(options),
        plan_(Plan::compile(std::move(graph), backend, options.compile)),
        compiler_(*plan_, backend),
        steps_(plan_->steps()),
        progress_(options) {}

  TuneReport run() {
    if (options_.passes > 0) tune_on(*compiler_.backend().make_runner(*plan_));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].launch) continue;
      report_.choices[compiler_.fingerprint_of(i)] = choice_of(i);
      steps_[i].launch->collect_images(report_.images);
    }
    return report_;
  }

 private:
  void tune_on(Runner& runner) {
    inputs_.fill(runner, plan_->graph());
    const auto incumbent = runner.make_variant(steps_);
    if (incumbent == nullptr) return;
    by_launch_ = !incumbent->step_times().empty();
    classes_ = collect_node_classes(compiler_, options_);
    report_.candidates = static_cast<int>(count_candidates(classes_));
    report_.node_classes = static_cast<int>(classes_.size());
    if (classes_.empty()) return;
    run_once(runner);
    measure_costs(runner, steps_.size(), classes_);
    progress_.expect((1 + passes()) * count_candidates(classes_) + max_neighbours());
    report_.rejected += check_candidates(compiler_, classes_, progress_);
    time_classes(runner);
  }

  void time_classes(Runner& runner) {
    if (by_launch_)
      time_by_launch(runner);
    else
      time_in_passes(runner);
    for (const NodeClass& node_class : classes_)
      report_.measured[node_class.fingerprint] = node_class.candidates[node_class.chosen].choice;
  }

  void time_by_launch(Runner& runner) {
    const RunTimes times =
        time_candidates_by_launch(compiler_, runner, classes_, steps_, compiler_.backend().timing_noise(), progress_);
    report_.before = nanoseconds_of(times.before);
    report_.after = nanoseconds_of(times.after);
  }

  void time_in_passes(Runner& runner) {
    report_.before = nanoseconds_of(time_steps(runner, steps_));
    for (std::size_t pass = 0; pass < passes(); ++pass) {
      if (pass == 1) search_neighbours();
      // At most the first estimate, so that the reported share never decreases.
      progress_.expect((passes() - pass) * count_candidates(classes_) + (pass == 0 ? max_neighbours() : 0));
      for (NodeClass& node_class : classes_) {
        time_candidates(compiler_, runner, node_class, steps_, compiler_.backend().timing_noise(), progress_);
        if (pass == 0) keep_fastest(node_class);
      }
    }
    report_.after = nanoseconds_of(time_steps(runner, steps_));
  }

  void search_neighbours() {
    report_.candidates += add_neighbours(compiler_, classes_, options_.neighbours);
    report_.rejected += check_candidates(compiler_, classes_, progress_);
    for (NodeClass& node_class : classes_) node_class.check.reset();
  }

  static std::chrono::nanoseconds nanoseconds_of(double time) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(time));
  }

  std::size_t passes() const { return by_launch_ ? 1 : static_cast<std::size_t>(options_.passes); }
  /// The maximum number of checks and timings of candidates from add_neighbours().
  std::size_t max_neighbours() const { return passes() > 1 ? classes_.size() * options_.neighbours * passes() : 0; }

  /// The choice of a step with an explicit configuration, because finding the default may take a search.
  TacticChoice choice_of(std::size_t at) const {
    const Step& step = steps_[at];
    TacticChoice choice{std::string(step.tactic->name()), step.configuration};
    if (!choice.configuration.empty()) return choice;
    std::vector<std::string> first = step.tactic->configurations(compiler_.context_of(at), 1);
    if (!first.empty()) choice.configuration = std::move(first.front());
    return choice;
  }

  const TuneOptions& options_;
  std::shared_ptr<const Plan> plan_;
  StepCompiler compiler_;
  std::vector<Step> steps_;  // the plan's, with the best candidates so far
  RandomInputs inputs_;
  std::vector<NodeClass> classes_;
  bool by_launch_ = false;  // the device times each launch, not whole runs
  ProgressCounter progress_;
  TuneReport report_;
};

}  // namespace

TuneReport tune(Graph graph, const Backend& backend, const TuneOptions& options) {
  return Tuner(std::move(graph), backend, options).run();
}

}  // namespace saccade
