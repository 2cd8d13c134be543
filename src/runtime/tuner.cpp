#include "runtime/tuner.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "base/log.hpp"
#include "base/parallel.hpp"
#include "ops/core/dispatch.hpp"
#include "runtime/candidate_check.hpp"
#include "tensor/frame.hpp"

// A candidate is timed inside the whole plan, not alone: its start under programmatic launch, its weights in the cache
// and the blocks of its neighbours matter as much as its own work. Candidates of a node class take turns, so that
// thermal throttling affects all of them equally.
namespace saccade {
namespace {

using std::chrono::nanoseconds;

constexpr int kRounds = 7;                     // for candidates near the best
constexpr nanoseconds kBlock{5'000'000};       // run time of a candidate in a round
constexpr double kNear = 1.02;                 // of the best time: takes part in further rounds
constexpr std::size_t kMaxNear = 4;            // candidates in further rounds
constexpr double kSlow = 1.5;                  // of the first candidate's time: one run suffices
constexpr std::size_t kKeptForSecondPass = 4;  // candidates of a node class

struct Candidate {
  TacticChoice choice;
  std::string rejection;
  double best = 0;  ///< time of a run in the last pass, in nanoseconds
  bool is_checked = false;
};

/// Nodes with the same fingerprint.
struct NodeClass {
  std::string fingerprint;
  std::vector<std::size_t> steps;  ///< of the plan
  std::vector<Candidate> candidates;
  std::set<std::pair<std::string, std::string>> seen;  ///< tactic and configuration of all candidates so far
  std::unique_ptr<CandidateCheck> check;
  std::size_t chosen = 0;  ///< index of a candidate
  double cost = 0;         ///< time of its nodes with the first tactics, in nanoseconds
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Random inputs for timed runs.
class RandomInputs {
 public:
  void fill(Runner& runner, const Graph& graph) {
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
    if (runner.frame() == nullptr) return;
    pixels_.resize(frame_bytes(PixelFormat::kNv12, kWidth, kHeight));
    for (std::byte& byte : pixels_) byte = static_cast<std::byte>(random());
    *runner.frame() =
        lay_out({.data = pixels_.data(), .capacity = pixels_.size()}, PixelFormat::kNv12, kWidth, kHeight);
  }

 private:
  static constexpr int kWidth = 1280;
  static constexpr int kHeight = 720;
  std::vector<std::byte> pixels_;
};

class Tuner {
 public:
  Tuner(Graph graph, const Backend& backend, const TuneOptions& options)
      : options_(options), backend_(backend), plan_(Plan::compile(std::move(graph), backend, options.compile)) {
    steps_ = plan_->steps();
  }

  TuneReport run() {
    if (options_.passes > 0) tune_on(*backend_.make_runner(*plan_));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].launch) continue;
      report_.choices[fingerprint_of(i)] = choice_of(i);
      steps_[i].launch->collect_images(report_.images);
    }
    return report_;
  }

 private:
  NodeContext context_of(std::size_t step) const {
    const Graph& graph = plan_->graph();
    return {.graph = graph,
            .node = graph.node(steps_[step].node),
            .threads = plan_->threads(),
            .storage = &plan_->storage()};
  }

  std::string fingerprint_of(std::size_t step) const {
    const NodeContext context = context_of(step);
    return node_fingerprint(context.graph, context.node, context.storage);
  }

  /// The choice of a step with an explicit configuration, because finding the default may take a search.
  TacticChoice choice_of(std::size_t at) const {
    const Step& step = steps_[at];
    TacticChoice choice{std::string(step.tactic->name()), step.configuration};
    if (!choice.configuration.empty()) return choice;
    std::vector<std::string> first = step.tactic->configurations(context_of(at), 1);
    if (!first.empty()) choice.configuration = std::move(first.front());
    return choice;
  }

  static void run(Runner& runner) {
    runner.submit();
    runner.wait();
  }

  void tune_on(Runner& runner) {
    inputs_.fill(runner, plan_->graph());
    if (runner.make_variant(steps_) == nullptr) return;
    collect_classes();
    if (classes_.empty()) return;
    run(runner);
    measure_costs(runner);
    all_ = (1 + passes()) * count_candidates() + max_neighbours();
    check_candidates();
    time_classes(runner);
  }

  /// The candidates for the node class of a step, the tactic of the step first.
  std::vector<Candidate> candidates_of(std::size_t at) const {
    const NodeContext context = context_of(at);
    std::vector<Candidate> candidates;
    for (const Tactic* tactic : backend_.tactics()) {
      if (!tactic->competes() || !is_possible(*tactic, context)) continue;
      std::vector<std::string> names = tactic->configurations(context, options_.configurations);
      if (names.empty()) names.emplace_back();
      for (std::string& name : names) candidates.push_back({{std::string(tactic->name()), std::move(name)}, {}});
    }
    return candidates;
  }

  static bool is_possible(const Tactic& tactic, const NodeContext& context) {
    return tactic.supports(context) && (!context.has_aliased_operands() || tactic.supports_strided_operands(context));
  }

  /// Whether the tactic supports all nodes of the class, some of which may have aliased operands.
  bool is_possible(const std::string& name, const NodeClass& node_class) const {
    const Tactic& tactic = tactic_of({name, {}});
    return std::ranges::all_of(node_class.steps,
                               [&](std::size_t step) { return is_possible(tactic, context_of(step)); });
  }

  void collect_classes() {
    const TacticChoices* known = options_.compile.choices;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].launch) continue;
      const std::string fingerprint = fingerprint_of(i);
      if (known != nullptr && known->contains(fingerprint)) continue;
      const auto [place, is_new] = places.emplace(fingerprint, classes_.size());
      if (is_new) classes_.push_back({.fingerprint = fingerprint, .candidates = candidates_of(i)});
      classes_[place->second].steps.push_back(i);
    }
    for (NodeClass& node_class : classes_)
      std::erase_if(node_class.candidates,
                    [&](const Candidate& each) { return !is_possible(each.choice.tactic, node_class); });
    std::erase_if(classes_, [](const NodeClass& node_class) { return node_class.candidates.size() < 2; });
    for (NodeClass& node_class : classes_) {
      const NodeContext context = context_of(node_class.steps.front());
      for (const Candidate& each : node_class.candidates)
        node_class.seen.emplace(each.choice.tactic, each.choice.configuration);
      node_class.check =
          std::make_unique<CandidateCheck>(context.graph, context.node, backend_, node_class.candidates.back().choice);
    }
    report_.candidates = static_cast<int>(count_candidates());
    report_.node_classes = static_cast<int>(classes_.size());
  }

  /// Measures the cost of the node classes, by events between launches; sorts them by descending cost.
  void measure_costs(Runner& runner) {
    std::vector<StepTime> times(steps_.size());
    runner.time_steps(times);
    run(runner);
    run(runner);
    runner.time_steps({});
    for (NodeClass& node_class : classes_)
      for (std::size_t step : node_class.steps) node_class.cost += static_cast<double>(times[step].duration().count());
    std::ranges::stable_sort(classes_, std::greater(), &NodeClass::cost);
  }

  std::size_t passes() const { return static_cast<std::size_t>(options_.passes); }
  /// The maximum number of checks and timings of candidates from add_neighbours().
  std::size_t max_neighbours() const {
    return options_.passes > 1 ? classes_.size() * options_.neighbours * passes() : 0;
  }
  std::size_t count_candidates() const {
    std::size_t count = 0;
    for (const NodeClass& node_class : classes_) count += node_class.candidates.size();
    return count;
  }

  /// Compiles every new candidate, in parallel, and removes the rejected ones.
  void check_candidates() {
    std::vector<std::pair<std::size_t, std::size_t>> jobs;
    for (std::size_t k = 0; k < classes_.size(); ++k)
      for (std::size_t c = 0; c < classes_[k].candidates.size(); ++c)
        if (!classes_[k].candidates[c].is_checked) jobs.emplace_back(k, c);
    const auto caller = std::this_thread::get_id();
    std::atomic<std::size_t> done = done_;
    in_parallel(jobs.size(), backend_.compile_threads(), [&](std::size_t i) {
      NodeClass& node_class = classes_[jobs[i].first];
      Candidate& candidate = node_class.candidates[jobs[i].second];
      candidate.rejection = node_class.check->rejection(candidate.choice, plan_->threads());
      if (candidate.rejection.empty()) candidate.rejection = rejection_with_aliasing(node_class, candidate.choice);
      candidate.is_checked = true;
      ++done;
      if (std::this_thread::get_id() == caller) report_progress(done);
    });
    done_ += jobs.size();
    for (NodeClass& node_class : classes_) {
      const auto bad = [&](const Candidate& candidate) {
        if (candidate.rejection.empty()) return false;
        log(LogLevel::kInfo, "tuning: {} {} is rejected: {}", candidate.choice.tactic, candidate.choice.configuration,
            candidate.rejection);
        return true;
      };
      report_.rejected += static_cast<int>(std::erase_if(node_class.candidates, bad));
    }
    std::erase_if(classes_, [](const NodeClass& node_class) { return node_class.candidates.empty(); });
  }

  /// The reason why nodes with aliased operands, which need other kernels, can't be compiled; empty if they can. The
  /// backend then has these kernels cached when they are timed, one after the other.
  std::string rejection_with_aliasing(const NodeClass& node_class, const TacticChoice& choice) const {
    try {
      for (std::size_t at : node_class.steps)
        if (context_of(at).has_aliased_operands()) static_cast<void>(launch_of(at, choice));
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  const Tactic& tactic_of(const TacticChoice& choice) const {
    const auto tactics = backend_.tactics();
    return **std::ranges::find(tactics, choice.tactic, &Tactic::name);
  }

  std::unique_ptr<const Launch> launch_of(std::size_t step, const TacticChoice& choice) const {
    NodeContext context = context_of(step);
    context.configuration = choice.configuration;
    return tactic_of(choice).compile(context);
  }

  /// The plan's steps with CHOICE for the nodes of the class.
  std::vector<Step> steps_with(const NodeClass& node_class, const TacticChoice& choice) const {
    std::vector<Step> steps = steps_;
    in_parallel(node_class.steps.size(), backend_.compile_threads(), [&](std::size_t i) {
      Step& step = steps[node_class.steps[i]];
      step.tactic = &tactic_of(choice);
      step.configuration = choice.configuration;
      step.launch = launch_of(node_class.steps[i], choice);
    });
    return steps;
  }

  void time_classes(Runner& runner) {
    report_.before = time_now(runner);
    for (std::size_t pass = 0; pass < passes(); ++pass) {
      if (pass == 1) add_neighbours();
      // At most the first estimate, so that the reported share never decreases.
      all_ = done_ + (passes() - pass) * count_candidates() + (pass == 0 ? max_neighbours() : 0);
      for (NodeClass& node_class : classes_) {
        time_class(runner, node_class);
        if (pass == 0) keep_best(node_class);
      }
    }
    report_.after = time_now(runner);
    for (const NodeClass& node_class : classes_)
      report_.measured[node_class.fingerprint] = node_class.candidates[node_class.chosen].choice;
  }

  /// Adds neighbours of the best configuration of each class: pipeline stages and warp layouts that the first list
  /// omits.
  void add_neighbours() {
    for (NodeClass& node_class : classes_) {
      const TacticChoice best = node_class.candidates[node_class.chosen].choice;
      NodeContext context = context_of(node_class.steps.front());
      context.configuration = best.configuration;
      for (std::string& name : tactic_of(best).configurations(context, options_.neighbours)) {
        if (!node_class.seen.emplace(best.tactic, name).second) continue;
        node_class.candidates.push_back({{best.tactic, std::move(name)}, {}});
        ++report_.candidates;
      }
    }
    check_candidates();
    for (NodeClass& node_class : classes_) node_class.check.reset();
  }

  nanoseconds time_now(Runner& runner) const {
    const auto variant = runner.make_variant(steps_);
    std::vector<double> times;
    for (int round = 0; round < kRounds; ++round) times.push_back(time_block(*variant));
    return nanoseconds(static_cast<std::int64_t>(median(times)));
  }

  static double time_block(Variant& variant) {
    const auto once = std::max<nanoseconds>(variant.time(1), nanoseconds(1));
    const auto runs = std::clamp<std::int64_t>(kBlock / once, 1, 100);
    return static_cast<double>(variant.time(static_cast<int>(runs)).count());
  }

  /// One candidate in the plan, and its times by round.
  struct Trial {
    std::size_t candidate;
    std::vector<Step> steps;
    std::unique_ptr<Variant> variant;
    std::vector<double> times;
  };

  void time_class(Runner& runner, NodeClass& node_class) {
    std::vector<Trial> trials;
    for (std::size_t c = 0; c < node_class.candidates.size(); ++c) {
      Trial trial{
          .candidate = c, .steps = steps_with(node_class, node_class.candidates[c].choice), .variant = {}, .times = {}};
      trial.variant = runner.make_variant(trial.steps);
      static_cast<void>(trial.variant->time(1));  // a graph's first launch uploads it
      const double once = static_cast<double>(trial.variant->time(1).count());
      const bool is_slow = !trials.empty() && once > kSlow * trials.front().times.front();
      trial.times.push_back(is_slow ? once : time_block(*trial.variant));
      if (!is_slow) trials.push_back(std::move(trial));
      report_progress(++done_);
    }
    const auto incumbent = [&](const Trial& trial) { return trial.candidate == node_class.chosen; };
    // The incumbent stays for comparison; of the others the nearest.
    std::ranges::sort(trials, {}, [](const Trial& trial) { return trial.times.front(); });
    const double best = trials.front().times.front();
    std::size_t near = 0;
    std::erase_if(trials, [&](const Trial& trial) {
      return !incumbent(trial) && (trial.times.front() > kNear * best || ++near > kMaxNear);
    });
    if (trials.size() > 1)
      for (int round = 1; round < kRounds; ++round)
        for (Trial& trial : trials) trial.times.push_back(time_block(*trial.variant));
    choose(node_class, trials);
  }

  void choose(NodeClass& node_class, std::vector<Trial>& trials) {
    for (Trial& trial : trials) node_class.candidates[trial.candidate].best = median(trial.times);
    const auto time_of = [&](const Trial& trial) { return node_class.candidates[trial.candidate].best; };
    auto best = std::ranges::min_element(trials, {}, time_of);
    const auto incumbent = std::ranges::find(trials, node_class.chosen, &Trial::candidate);
    if (incumbent != trials.end() && time_of(*best) > (1 - options_.min_gain) * time_of(*incumbent)) best = incumbent;
    node_class.chosen = best->candidate;
    steps_ = std::move(best->steps);
  }

  /// Keeps the fastest candidates for the second pass.
  void keep_best(NodeClass& node_class) {
    const TacticChoice chosen = node_class.candidates[node_class.chosen].choice;
    std::erase_if(node_class.candidates,
                  [&](const Candidate& each) { return each.best == 0 && !(each.choice == chosen); });
    std::ranges::stable_sort(node_class.candidates, {}, &Candidate::best);
    const std::size_t dropped =
        node_class.candidates.size() - std::min(node_class.candidates.size(), kKeptForSecondPass);
    for (std::size_t i = 0; i < dropped && !(node_class.candidates.back().choice == chosen); ++i)
      node_class.candidates.pop_back();
    node_class.chosen = static_cast<std::size_t>(std::ranges::find(node_class.candidates, chosen, &Candidate::choice) -
                                                 node_class.candidates.begin());
  }

  void report_progress(std::size_t done) const {
    if (!options_.on_progress || all_ == 0) return;
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(all_));
    const auto elapsed = Clock::now() - start_;
    const auto left = std::chrono::duration<double>(elapsed) * ((1 - share) / std::max(share, 1e-3));
    options_.on_progress({.share = share, .left = std::chrono::duration_cast<nanoseconds>(left)});
  }

  const TuneOptions& options_;
  const Backend& backend_;
  Clock::time_point start_ = Clock::now();
  std::shared_ptr<const Plan> plan_;
  std::vector<Step> steps_;  // the plan's, with the best candidates so far
  RandomInputs inputs_;
  std::vector<NodeClass> classes_;
  TuneReport report_;
  std::size_t done_ = 0;
  std::size_t all_ = 0;
};

}  // namespace

TuneReport tune(Graph graph, const Backend& backend, const TuneOptions& options) {
  return Tuner(std::move(graph), backend, options).run();
}

}  // namespace saccade
