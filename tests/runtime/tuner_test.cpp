#include "runtime/tuning/tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/reference_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

/// Writes zeros.
class WrongLaunch : public Launch {
 public:
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    struct Bound : BoundLaunch {
      TensorView output;
      void run() override { std::ranges::fill(output.as<float>(), 0.0F); }
    };
    auto bound = std::make_unique<Bound>();
    bound->output = bindings.outputs[0];
    return bound;
  }
};

/// Runs everything by its reference kernel, in configurations that differ in name; "wrong" returns zeros, "broken" does
/// not compile, nor does "dense" in the memory of others. Near "a" lie "a'" and "a''". Takes any strides, for which its
/// kernels have no eye.
class NamedTactic : public Tactic {
 public:
  NamedTactic(std::string name, std::vector<std::string> configurations)
      : name_(std::move(name)), configurations_(std::move(configurations)) {}
  std::string_view name() const override { return name_; }
  Support supports(const NodeContext&) const override { return {}; }
  bool supports_strided_operands(const NodeContext&) const override { return true; }
  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    const std::string near(context.configuration);
    if (!near.empty()) return {near + "'", near + "''"};
    return {configurations_.begin(),
            configurations_.begin() + static_cast<std::ptrdiff_t>(std::min(count, configurations_.size()))};
  }
  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    if (context.configuration == "broken" || (context.configuration == "dense" && context.has_aliased_operands()))
      throw Error(ErrorCode::kDevice, "it is broken");
    if (context.configuration == "wrong") return std::make_unique<WrongLaunch>();
    return reference_tactic().compile(context);
  }

 private:
  std::string name_;
  std::vector<std::string> configurations_;
};

/// "Relu:tactic/configuration Neg:..." of the launches, in their order.
using Clockwork = std::function<std::int64_t(const std::string& steps)>;

/// Runs on the host; what a run takes is what a clockwork says, in microseconds.
class ClockworkBackend : public ReferenceBackend {
 public:
  /// BY_LAUNCH: the clockwork is read for each launch, not for a run.
  ClockworkBackend(std::vector<std::pair<std::string, std::vector<std::string>>> tactics, Clockwork clockwork,
                   bool by_launch = false)
      : clockwork_(std::move(clockwork)), by_launch_(by_launch) {
    for (auto& [name, configurations] : tactics)
      own_.push_back(std::make_unique<NamedTactic>(name, std::move(configurations)));
    for (const auto& tactic : own_) listed_.push_back(tactic.get());
    listed_.push_back(&reference_tactic());
  }
  std::span<const Tactic* const> tactics() const override { return listed_; }
  int compile_threads() const override { return 3; }
  std::unique_ptr<Runner> make_runner(const Plan& plan) const override {
    return std::make_unique<ClockworkRunner>(plan, clockwork_, by_launch_);
  }

 private:
  struct ClockworkVariant : Variant {
    std::int64_t microseconds = 0;
    std::vector<std::chrono::nanoseconds> launches;
    std::chrono::nanoseconds time(int) override { return std::chrono::microseconds(microseconds); }
    std::span<const std::chrono::nanoseconds> step_times() const override { return launches; }
  };
  class ClockworkRunner : public Runner {
   public:
    ClockworkRunner(const Plan& plan, const Clockwork& clockwork, bool by_launch)
        : plan_(plan), clockwork_(clockwork), by_launch_(by_launch), host_(make_host_runner(plan)) {}
    TensorView view(ValueId id) const override { return host_->view(id); }
    std::span<FrameView> frames() override { return host_->frames(); }
    void submit() override { host_->submit(); }
    void wait() override { host_->wait(); }
    void poison() override { host_->poison(); }
    void leave_on_device(bool leaves) override { host_->leave_on_device(leaves); }
    std::chrono::nanoseconds stage_time(Stage stage) const override { return host_->stage_time(stage); }
    void time_steps(std::span<StepTime> times) override { host_->time_steps(times); }
    std::unique_ptr<Variant> make_variant(std::span<const Step> steps) override {
      if (!clockwork_) return nullptr;
      std::string text;
      auto variant = std::make_unique<ClockworkVariant>();
      for (const Step& step : steps) {
        std::string launch;
        if (step.launch)
          launch = fmt::format("{}:{}/{} ", plan_.graph().node(step.node).op, step.tactic->name(), step.configuration);
        if (by_launch_) variant->launches.push_back(std::chrono::microseconds(step.launch ? clockwork_(launch) : 0));
        text += launch;
      }
      variant->microseconds = clockwork_(text);
      return variant;
    }

   private:
    const Plan& plan_;
    const Clockwork& clockwork_;
    bool by_launch_;
    std::unique_ptr<Runner> host_;
  };

  Clockwork clockwork_;
  bool by_launch_;
  std::vector<std::unique_ptr<Tactic>> own_;
  std::vector<const Tactic*> listed_;
};

std::int64_t count(const std::string& text, const std::string& word) {
  std::int64_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// Relu, Relu, Neg; the first two are of a kind.
Graph three_nodes() {
  test::GraphBuilder b;
  return b.build({b.op("Neg", {b.op("Relu", {b.op("Relu", {b.input("x", {2, 3})})})})});
}

TacticChoice choice_for(const TuneReport& report, const std::string& op) {
  const Graph graph = three_nodes();
  for (NodeId id : graph.order())
    if (graph.node(id).op == op) return report.choices.at(node_fingerprint(graph, graph.node(id)));
  return {};
}

TEST(Tuner, ChoosesTheFastestThatIsRight) {
  const ClockworkBackend backend({{"tiled", {"slow", "fast", "wrong", "broken"}}}, [](const std::string& steps) {
    return 100 * count(steps, "slow") + 100 * count(steps, "tiled/ ") + 40 * count(steps, "fast") +
           count(steps, "wrong");
  });
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_EQ(choice_for(report, "Relu"), (TacticChoice{"tiled", "fast"}));
  EXPECT_EQ(choice_for(report, "Neg"), (TacticChoice{"tiled", "fast"}));
  EXPECT_EQ(report.measured, report.choices);
  EXPECT_EQ(report.node_classes, 2);
  EXPECT_EQ(report.candidates, 8 + 4) << "near each of the fast ones lie two";
  EXPECT_EQ(report.rejected, 4);
  EXPECT_EQ(report.before, std::chrono::microseconds(300));
  EXPECT_EQ(report.after, std::chrono::microseconds(120));
}

TEST(Tuner, ChoosesAmongTactics) {
  const ClockworkBackend backend({{"tiled", {"a", "b"}}, {"plain", {}}}, [](const std::string& steps) {
    return 1000 - 10 * count(steps, "Relu:tiled/b") - 20 * count(steps, "Relu:plain/") -
           30 * count(steps, "Neg:tiled/b");
  });
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_EQ(choice_for(report, "Relu"), (TacticChoice{"plain", ""}));
  EXPECT_EQ(choice_for(report, "Neg"), (TacticChoice{"tiled", "b"}));
}

/// Of all classes in the same runs, where each launch is timed.
TEST(Tuner, ChoosesByTheTimesOfLaunches) {
  int variants = 0;
  const ClockworkBackend backend(
      {{"tiled", {"a", "b", "wrong"}}, {"plain", {}}},
      [&](const std::string& steps) {
        variants += static_cast<int>(count(steps, ":") == 3);
        return 100 * count(steps, ":") - 10 * count(steps, "Relu:tiled/b") - 20 * count(steps, "Relu:plain/") -
               30 * count(steps, "Neg:tiled/b");
      },
      true);
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_EQ(choice_for(report, "Relu"), (TacticChoice{"plain", ""}));
  EXPECT_EQ(choice_for(report, "Neg"), (TacticChoice{"tiled", "b"}));
  EXPECT_EQ(report.rejected, 2);
  EXPECT_EQ(report.before, std::chrono::microseconds(300));
  EXPECT_EQ(report.after, std::chrono::microseconds(300 - 2 * 20 - 30));
  EXPECT_EQ(variants, 1 + 3) << "to see whether launches are timed, and three candidates of each class";
}

TEST(Tuner, LeavesAWrongIncumbentWhereLaunchesAreTimed) {
  const ClockworkBackend backend(
      {{"tiled", {"wrong", "a"}}}, [](const std::string& steps) { return 100 * count(steps, ":"); }, true);
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_EQ(report.rejected, 2);
  EXPECT_EQ(choice_for(report, "Relu"), (TacticChoice{"tiled", "a"})) << "although it gains nothing";
}

TEST(Tuner, StaysWhereTheGainOfALaunchIsNoise) {
  const ClockworkBackend backend(
      {{"tiled", {"a", "b"}}},
      [](const std::string& steps) { return 100000 * count(steps, ":") - 10 * count(steps, "tiled/b"); }, true);
  EXPECT_EQ(choice_for(tune(three_nodes(), backend, {}), "Relu").configuration, "a");
}

TEST(Tuner, GoesOnFromWhatNeighboursBecame) {
  // Relu's b pays only behind Neg's, which is chosen after it.
  const ClockworkBackend backend({{"tiled", {"a", "b"}}}, [](const std::string& steps) -> std::int64_t {
    const bool relu = count(steps, "Relu:tiled/b") > 0;
    const bool neg = count(steps, "Neg:tiled/b") > 0;
    return neg ? (relu ? 600 : 900) : (relu ? 1010 : 1000);
  });
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_EQ(report.after, std::chrono::microseconds(600));
}

TEST(Tuner, LooksNearTheBest) {
  const ClockworkBackend backend({{"tiled", {"a", "b", "c"}}}, [](const std::string& steps) {
    return 1000 - 50 * count(steps, "tiled/b") - 100 * count(steps, "tiled/b''") - 500 * count(steps, "tiled/c'");
  });
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_EQ(choice_for(report, "Relu"), (TacticChoice{"tiled", "b''"}));
  EXPECT_EQ(choice_for(report, "Neg"), (TacticChoice{"tiled", "b''"}));
  EXPECT_EQ(report.candidates, 2 * (3 + 2)) << "c' is not near the best";
  EXPECT_EQ(report.rejected, 0);
  TuneOptions once;
  once.passes = 1;
  EXPECT_EQ(choice_for(tune(three_nodes(), backend, once), "Relu"), (TacticChoice{"tiled", "b"}));
}

TEST(Tuner, StaysWhereTheGainIsNoise) {
  const ClockworkBackend backend({{"tiled", {"a", "b"}}},
                                 [](const std::string& steps) { return 100000 - 10 * count(steps, "tiled/b"); });
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_EQ(choice_for(report, "Relu").configuration, "a");
}

TEST(Tuner, TakesWhatIsKnown) {
  const ClockworkBackend backend({{"tiled", {"a", "b"}}},
                                 [](const std::string& steps) { return 1000 - 100 * count(steps, "tiled/b"); });
  TacticChoices known;
  const Graph graph = three_nodes();
  for (NodeId id : graph.order()) known[node_fingerprint(graph, graph.node(id))] = {"tiled", "a"};
  TuneOptions options;
  options.compile.choices = &known;
  const TuneReport report = tune(three_nodes(), backend, options);
  EXPECT_EQ(report.candidates, 0);
  EXPECT_TRUE(report.measured.empty());
  EXPECT_EQ(report.choices, known);
}

TEST(Tuner, NamesTheFirstOfEachWhereThereIsNoClock) {
  const ClockworkBackend backend({{"tiled", {"a", "b"}}}, nullptr);
  const TuneReport report = tune(three_nodes(), backend, {});
  EXPECT_TRUE(report.measured.empty());
  EXPECT_EQ(report.node_classes, 0) << "nothing is tuned";
  EXPECT_EQ(report.candidates, 0);
  EXPECT_EQ(choice_for(report, "Relu"), (TacticChoice{"tiled", "a"}));
}

TEST(Tuner, SaysHowFarItIs) {
  const ClockworkBackend backend({{"tiled", {"a", "b"}}}, [](const std::string&) { return 10; });
  std::vector<double> shares;
  TuneOptions options;
  options.on_progress = [&](const TuneProgress& progress) { shares.push_back(progress.share); };
  tune(three_nodes(), backend, options);
  ASSERT_FALSE(shares.empty());
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_EQ(shares.back(), 1.0);
}

/// relu(x) and neg(x) side by side, where a concatenation has them.
Graph joined() {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId parts = b.op("Concat", {b.op("Relu", {x}), b.op("Neg", {x})}, {{"axis", std::int64_t{1}}});
  return b.build({b.op("Abs", {parts})});
}

TEST(Tuner, KnowsWhereOperandsLie) {
  const ClockworkBackend backend({{"tiled", {"a", "b"}}}, nullptr);
  const Graph graph = joined();
  const Node& relu = graph.node(graph.order().front());
  const auto configured = [&](const TacticChoices& choices) {
    const auto plan = Plan::compile(graph, backend, {.choices = &choices});
    EXPECT_EQ(plan->steps().front().node, graph.order().front());
    return std::pair(plan->steps().front().configuration, node_fingerprint(graph, relu, &plan->storage()));
  };
  const std::string dense = node_fingerprint(graph, relu);
  const auto [none, strided] = configured({});
  EXPECT_NE(dense, strided);
  EXPECT_EQ(configured({{dense, {"tiled", "b"}}}).first, "") << "what was measured on dense memory";
  EXPECT_EQ(configured({{strided, {"tiled", "b"}}}).first, "b");
  EXPECT_TRUE(tune(graph, backend, {}).choices.contains(strided));
}

/// Also so that the kernels for that are compiled side by side, not one by one while the device waits.
TEST(Tuner, CompilesCandidatesWhereOperandsLie) {
  const ClockworkBackend backend({{"tiled", {"a", "dense"}}},
                                 [](const std::string& steps) { return 1000 - 10 * count(steps, "tiled/dense"); });
  const TuneReport report = tune(joined(), backend, {});
  EXPECT_EQ(report.rejected, 2) << "Relu's and Neg's, whose outputs the Concat's is made of";
  EXPECT_EQ(report.after, std::chrono::microseconds(990)) << "Abs lies by itself";
}

TEST(NodeFingerprint, DiffersForNodesThatRunDifferently) {
  const auto of = [](const Shape& shape, const std::string& op) {
    test::GraphBuilder b;
    const Graph graph = b.build({b.op(op, {b.input("x", shape)})});
    return node_fingerprint(graph, graph.node(graph.order().front()));
  };
  EXPECT_EQ(of({2, 3}, "Relu"), of({2, 3}, "Relu"));
  EXPECT_NE(of({2, 3}, "Relu"), of({3, 2}, "Relu"));
  EXPECT_NE(of({2, 3}, "Relu"), of({2, 3}, "Neg"));

  const auto reshaped = [](std::initializer_list<std::int64_t> target, float bias) {
    test::GraphBuilder b;
    const Graph graph = b.build({b.op("Add", {b.op("Reshape", {b.input("x", {6}), b.ints(target)}), b.scalar(bias)})});
    const std::vector<NodeId> order = graph.order();
    return std::pair(node_fingerprint(graph, graph.node(order[0])), node_fingerprint(graph, graph.node(order[1])));
  };
  EXPECT_NE(reshaped({2, 3}, 0).first, reshaped({-1, 3}, 0).first);
  EXPECT_EQ(reshaped({2, 3}, 0).second, reshaped({2, 3}, 1).second) << "weights decide nothing";
}

}  // namespace
}  // namespace saccade
