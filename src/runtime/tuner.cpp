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

// A candidate's time by itself says little: how early it may start, which of its weights are in the cache, and whether
// its blocks fit beside its neighbours' decide as much as its own work. So the whole plan runs with it, as often as the
// clock needs. Candidates of a kind take turns, so that a device that grows warm slows all of them alike.
namespace saccade {
namespace {

using std::chrono::nanoseconds;

constexpr int kRounds = 7;                     // of candidates that are near the best
constexpr nanoseconds kBlock{5'000'000};       // that a candidate runs for in a round
constexpr double kNear = 1.02;                 // of the best's time: goes on to further rounds
constexpr std::size_t kMostNear = 4;           // that do
constexpr double kSlow = 1.5;                  // of the first's time: one run was enough
constexpr std::size_t kKeptForSecondPass = 4;  // candidates of a kind

struct Candidate {
  TacticChoice choice;
  std::string objection;
  double best = 0;  ///< of a run in the last pass, in nanoseconds
  bool is_checked = false;
};

/// Nodes that are alike.
struct Kind {
  std::string fingerprint;
  std::vector<std::size_t> steps;  ///< of the plan
  std::vector<Candidate> candidates;
  std::set<std::pair<std::string, std::string>> seen;  ///< tactic and configuration of all that were candidates
  std::unique_ptr<CandidateCheck> check;
  std::size_t chosen = 0;  ///< candidate
  double cost = 0;         ///< of its nodes by the first tactics, in nanoseconds
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The inputs of a run that is timed: noise.
class Noise {
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
    return {
        .graph = graph, .node = graph.node(steps_[step].node), .threads = plan_->threads(), .places = &plan_->places()};
  }

  std::string fingerprint_of(std::size_t step) const {
    const NodeContext context = context_of(step);
    return node_fingerprint(context.graph, context.node, context.places);
  }

  /// What a step runs by, its configuration named: finding the first one again may take a search.
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
    noise_.fill(runner, plan_->graph());
    if (runner.make_variant(steps_) == nullptr) return;
    collect_kinds();
    if (kinds_.empty()) return;
    run(runner);
    weigh(runner);
    all_ = (1 + passes()) * count_candidates() + most_near();
    check_candidates();
    time_kinds(runner);
  }

  /// What could run the nodes of a kind, its step's own tactic first.
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
    return tactic.supports(context) && (!context.shares_memory() || tactic.takes_strides(context));
  }

  /// Whether the tactic can run all nodes of the kind, of which some may lie in the memory of others.
  bool is_possible(const std::string& name, const Kind& kind) const {
    const Tactic& tactic = tactic_of({name, {}});
    return std::ranges::all_of(kind.steps, [&](std::size_t step) { return is_possible(tactic, context_of(step)); });
  }

  void collect_kinds() {
    const TacticChoices* known = options_.compile.choices;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].launch) continue;
      const std::string fingerprint = fingerprint_of(i);
      if (known != nullptr && known->contains(fingerprint)) continue;
      const auto [place, is_new] = places.emplace(fingerprint, kinds_.size());
      if (is_new) kinds_.push_back({.fingerprint = fingerprint, .candidates = candidates_of(i)});
      kinds_[place->second].steps.push_back(i);
    }
    for (Kind& kind : kinds_)
      std::erase_if(kind.candidates, [&](const Candidate& each) { return !is_possible(each.choice.tactic, kind); });
    std::erase_if(kinds_, [](const Kind& kind) { return kind.candidates.size() < 2; });
    for (Kind& kind : kinds_) {
      const NodeContext context = context_of(kind.steps.front());
      for (const Candidate& each : kind.candidates) kind.seen.emplace(each.choice.tactic, each.choice.configuration);
      kind.check =
          std::make_unique<CandidateCheck>(context.graph, context.node, backend_, kind.candidates.back().choice);
    }
    report_.candidates = static_cast<int>(count_candidates());
    report_.kinds = static_cast<int>(kinds_.size());
  }

  /// Measures the cost of the node classes, by events between launches; sorts them by descending cost.
  void weigh(Runner& runner) {
    std::vector<StepTime> times(steps_.size());
    runner.time_steps(times);
    run(runner);
    run(runner);
    runner.time_steps({});
    for (Kind& kind : kinds_)
      for (std::size_t step : kind.steps) kind.cost += static_cast<double>(times[step].duration().count());
    std::ranges::stable_sort(kinds_, std::greater(), &Kind::cost);
  }

  std::size_t passes() const { return static_cast<std::size_t>(options_.passes); }
  /// How often candidates that look_near() may add are checked and timed, at most.
  std::size_t most_near() const { return options_.passes > 1 ? kinds_.size() * options_.near * passes() : 0; }
  std::size_t count_candidates() const {
    std::size_t count = 0;
    for (const Kind& kind : kinds_) count += kind.candidates.size();
    return count;
  }

  /// Compiles every new candidate, side by side, and drops those that are no good.
  void check_candidates() {
    std::vector<std::pair<std::size_t, std::size_t>> jobs;
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      for (std::size_t c = 0; c < kinds_[k].candidates.size(); ++c)
        if (!kinds_[k].candidates[c].is_checked) jobs.emplace_back(k, c);
    const auto caller = std::this_thread::get_id();
    std::atomic<std::size_t> done = done_;
    in_parallel(jobs.size(), backend_.compile_threads(), [&](std::size_t i) {
      Kind& kind = kinds_[jobs[i].first];
      Candidate& candidate = kind.candidates[jobs[i].second];
      candidate.objection = kind.check->objection(candidate.choice, plan_->threads());
      if (candidate.objection.empty()) candidate.objection = objection_in_place(kind, candidate.choice);
      candidate.is_checked = true;
      ++done;
      if (std::this_thread::get_id() == caller) say(done);
    });
    done_ += jobs.size();
    for (Kind& kind : kinds_) {
      const auto bad = [&](const Candidate& candidate) {
        if (candidate.objection.empty()) return false;
        log(LogLevel::kInfo, "tuning: {} {} is rejected: {}", candidate.choice.tactic, candidate.choice.configuration,
            candidate.objection);
        return true;
      };
      report_.rejected += static_cast<int>(std::erase_if(kind.candidates, bad));
    }
    std::erase_if(kinds_, [](const Kind& kind) { return kind.candidates.empty(); });
  }

  /// Why the nodes of KIND can't be compiled where they lie, if that is in the memory of others, which makes other
  /// kernels of them; empty: they are, and the backend knows these kernels when they are timed, one after the other.
  std::string objection_in_place(const Kind& kind, const TacticChoice& choice) const {
    try {
      for (std::size_t at : kind.steps)
        if (context_of(at).shares_memory()) static_cast<void>(launch_of(at, choice));
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

  /// The plan's steps with CHOICE for the nodes of KIND.
  std::vector<Step> steps_with(const Kind& kind, const TacticChoice& choice) const {
    std::vector<Step> steps = steps_;
    in_parallel(kind.steps.size(), backend_.compile_threads(), [&](std::size_t i) {
      Step& step = steps[kind.steps[i]];
      step.tactic = &tactic_of(choice);
      step.configuration = choice.configuration;
      step.launch = launch_of(kind.steps[i], choice);
    });
    return steps;
  }

  void time_kinds(Runner& runner) {
    report_.before = time_now(runner);
    for (std::size_t pass = 0; pass < passes(); ++pass) {
      if (pass == 1) look_near();
      // At most what was foreseen: the share that is done only grows.
      all_ = done_ + (passes() - pass) * count_candidates() + (pass == 0 ? most_near() : 0);
      for (Kind& kind : kinds_) {
        time_kind(runner, kind);
        if (pass == 0) keep_best(kind);
      }
    }
    report_.after = time_now(runner);
    for (const Kind& kind : kinds_) report_.measured[kind.fingerprint] = kind.candidates[kind.chosen].choice;
  }

  /// Adds what is near each kind's best: rings and arrangements of warps that a first list leaves out.
  void look_near() {
    for (Kind& kind : kinds_) {
      const TacticChoice best = kind.candidates[kind.chosen].choice;
      NodeContext context = context_of(kind.steps.front());
      context.configuration = best.configuration;
      for (std::string& name : tactic_of(best).configurations(context, options_.near)) {
        if (!kind.seen.emplace(best.tactic, name).second) continue;
        kind.candidates.push_back({{best.tactic, std::move(name)}, {}});
        ++report_.candidates;
      }
    }
    check_candidates();
    for (Kind& kind : kinds_) kind.check.reset();
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

  /// One candidate in the plan, and how long a run took by rounds.
  struct Trial {
    std::size_t candidate;
    std::vector<Step> steps;
    std::unique_ptr<Variant> variant;
    std::vector<double> times;
  };

  void time_kind(Runner& runner, Kind& kind) {
    std::vector<Trial> trials;
    for (std::size_t c = 0; c < kind.candidates.size(); ++c) {
      Trial trial{.candidate = c, .steps = steps_with(kind, kind.candidates[c].choice), .variant = {}, .times = {}};
      trial.variant = runner.make_variant(trial.steps);
      static_cast<void>(trial.variant->time(1));  // a graph's first launch uploads it
      const double once = static_cast<double>(trial.variant->time(1).count());
      const bool is_slow = !trials.empty() && once > kSlow * trials.front().times.front();
      trial.times.push_back(is_slow ? once : time_block(*trial.variant));
      if (!is_slow) trials.push_back(std::move(trial));
      say(++done_);
    }
    const auto incumbent = [&](const Trial& trial) { return trial.candidate == kind.chosen; };
    // The one in force stays for comparison; of the others the nearest.
    std::ranges::sort(trials, {}, [](const Trial& trial) { return trial.times.front(); });
    const double best = trials.front().times.front();
    std::size_t near = 0;
    std::erase_if(trials, [&](const Trial& trial) {
      return !incumbent(trial) && (trial.times.front() > kNear * best || ++near > kMostNear);
    });
    if (trials.size() > 1)
      for (int round = 1; round < kRounds; ++round)
        for (Trial& trial : trials) trial.times.push_back(time_block(*trial.variant));
    choose(kind, trials);
  }

  void choose(Kind& kind, std::vector<Trial>& trials) {
    for (Trial& trial : trials) kind.candidates[trial.candidate].best = median(trial.times);
    const auto time_of = [&](const Trial& trial) { return kind.candidates[trial.candidate].best; };
    auto best = std::ranges::min_element(trials, {}, time_of);
    const auto incumbent = std::ranges::find(trials, kind.chosen, &Trial::candidate);
    if (incumbent != trials.end() && time_of(*best) > (1 - options_.noise) * time_of(*incumbent)) best = incumbent;
    kind.chosen = best->candidate;
    steps_ = std::move(best->steps);
  }

  /// Leaves a second pass the candidates that came near.
  void keep_best(Kind& kind) {
    const TacticChoice chosen = kind.candidates[kind.chosen].choice;
    std::erase_if(kind.candidates, [&](const Candidate& each) { return each.best == 0 && !(each.choice == chosen); });
    std::ranges::stable_sort(kind.candidates, {}, &Candidate::best);
    const std::size_t dropped = kind.candidates.size() - std::min(kind.candidates.size(), kKeptForSecondPass);
    for (std::size_t i = 0; i < dropped && !(kind.candidates.back().choice == chosen); ++i) kind.candidates.pop_back();
    kind.chosen = static_cast<std::size_t>(std::ranges::find(kind.candidates, chosen, &Candidate::choice) -
                                           kind.candidates.begin());
  }

  void say(std::size_t done) const {
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
  std::vector<Step> steps_;  // the plan's with the best so far
  Noise noise_;
  std::vector<Kind> kinds_;
  TuneReport report_;
  std::size_t done_ = 0;
  std::size_t all_ = 0;
};

}  // namespace

TuneReport tune(Graph graph, const Backend& backend, const TuneOptions& options) {
  return Tuner(std::move(graph), backend, options).run();
}

}  // namespace saccade
