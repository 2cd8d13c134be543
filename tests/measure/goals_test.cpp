#include "measure/goals/goals.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "saccade/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class Goals : public testing::Test {
 protected:
  std::vector<Goal> read(const std::string& text) {
    folder_.write("goals.toml", text);
    return read_goals(folder_ / "goals.toml");
  }
  std::string error_of(const std::string& text) {
    try {
      read(text);
      return "read";
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::string path() const { return folder_ / "goals.toml"; }

  test::TempFolder folder_;
};

/// Two sources: "a", a file, with 300 frames captured, and "b", a camera, with 100.
GoalFacts two_sources() {
  const auto stream = [](const std::string& name, std::int64_t captured, std::int64_t dropped, milliseconds p99) {
    StreamSummary made{.source = name,
                       .ledger = {.captured = captured, .processed = captured - dropped, .queue_full = dropped},
                       .rate = static_cast<double>(captured - dropped) / 10};
    if (name == "b") made.late = 3;
    made.stages = {
        {"total", {.count = captured - dropped, .p50 = milliseconds(4), .p99 = p99, .max = milliseconds(90)}}};
    return made;
  };
  GoalFacts found{.peak_memory = 200'000'000, .model_bytes = {{"net", 4'000'000}}};
  found.summary.streams = {stream("a", 300, 0, milliseconds(15)), stream("b", 100, 1, milliseconds(20))};
  return found;
}

/// "latency_p99 a 15 met", a line a result.
std::string outcome(const std::vector<Goal>& goals, const GoalFacts& measured = two_sources()) {
  std::string text;
  for (const GoalResult& each : evaluate_goals(goals, measured))
    text += fmt::format("{} {} {} {}\n", each.goal.name, each.source + each.goal.model,
                        each.measured ? fmt::format("{:.4g}", *each.measured) : "nothing", each.met ? "met" : "missed");
  return text;
}

TEST_F(Goals, OfLatencyAreOfEachSource) {
  EXPECT_EQ(outcome(read("latency_p99 = \"16 ms\"")), "latency_p99 a 15 met\nlatency_p99 b 20 missed\n");
  EXPECT_EQ(outcome(read("latency_p50 = \"0.004 s\"")), "latency_p50 a 4 met\nlatency_p50 b 4 met\n");
  EXPECT_EQ(outcome(read("latency_max = \"0.1 s\"")), "latency_max a 90 met\nlatency_max b 90 met\n");
}

TEST_F(Goals, OfOneSourceReplaceThoseOfAll) {
  EXPECT_EQ(outcome(read("rate = 25\n[source.b]\nrate = 9")), "rate a 30 met\nrate b 9.9 met\n");
  EXPECT_EQ(outcome(read("rate = 25\n[source.b]\nlate = 0")),
            "rate a 30 met\nrate b 9.9 missed\nlate b 0.0303 missed\n");
}

TEST_F(Goals, OfDropsAreShares) {
  EXPECT_EQ(outcome(read("drops = \"1 %\"")), "drops a 0 met\ndrops b 0.01 met\n");
  EXPECT_EQ(outcome(read("drops = 0.001")), "drops a 0 met\ndrops b 0.01 missed\n");
}

TEST_F(Goals, CountEveryLossButTheEndOfTheRun) {
  EXPECT_DOUBLE_EQ(drop_share({.captured = 100, .queue_full = 1, .failed = 2, .corrupt = 3, .lost = 4}), 0.1);
  EXPECT_DOUBLE_EQ(drop_share({.captured = 100, .skipped = 50, .queue_full = 1, .stopped = 2}), 0.02);
  EXPECT_EQ(drop_share({.captured = 5, .skipped = 5}), 0);
  EXPECT_EQ(drop_share({}), 0);
}

TEST_F(Goals, CountAsManyLossesAsWouldHaveBeenSelected) {
  // Every tenth frame of 1000, of which 100 were lost.
  EXPECT_DOUBLE_EQ(drop_share({.captured = 1000, .processed = 90, .skipped = 810, .lost = 100}), 0.1);
  EXPECT_DOUBLE_EQ(drop_share({.captured = 1000, .processed = 90, .skipped = 810, .no_buffer = 60, .corrupt = 40}),
                   0.1);
  EXPECT_DOUBLE_EQ(drop_share({.captured = 900, .processed = 90, .skipped = 810}, 100), 0.1) << "missed in an outage";
  EXPECT_DOUBLE_EQ(drop_share({.captured = 900, .processed = 85, .skipped = 810, .queue_full = 5}, 100), 0.15);
  EXPECT_DOUBLE_EQ(drop_share({.captured = 5, .lost = 5}), 1);
}

/// An outage of a camera whose rate was unknown at the start has cost frames, but how many is unknown.
TEST_F(Goals, OfDropsAreNotMetByOutagesOfUnknownLength) {
  GoalFacts facts = two_sources();
  facts.without_rate = {1};
  EXPECT_EQ(outcome(read("drops = 1"), facts), "drops a 0 met\ndrops b 0.01 met\n") << "without an outage";
  facts.summary.streams[1].outages = {.count = 1, .duration = std::chrono::seconds(60), .latest = {{.is_over = true}}};
  EXPECT_EQ(outcome(read("drops = 1"), facts), "drops a 0 met\ndrops b nothing missed\n");
  facts.without_rate = {};
  EXPECT_EQ(outcome(read("drops = 1"), facts), "drops a 0 met\ndrops b 0.01 met\n") << "too short for a frame";
}

/// A camera of ten frames per second that is away before its first frame, between two, or after its last one.
TEST_F(Goals, OfACameraThatIsAwayCountTheTime) {
  using std::chrono::seconds;
  const auto with = [](const Outage& outage, seconds before_first = {}, std::int64_t count = 1) {
    GoalFacts facts = two_sources();
    StreamSummary& camera = facts.summary.streams[1];
    camera.ledger = {.captured = 101, .processed = 101};
    camera.rate = 10;
    camera.outages = {.count = count,
                      .duration = outage.duration,
                      .missed = outage.missed,
                      .before_first = before_first,
                      .latest = {outage}};
    facts.summary.streams = {camera};
    return facts;
  };
  const std::vector<Goal> goals = read("rate = 9.9\ndrops = 0");
  EXPECT_EQ(outcome(goals, with({.start = seconds(10), .duration = seconds(30), .missed = 299})),
            "rate b 2.5 missed\ndrops b 0.7475 missed\n");
  EXPECT_EQ(outcome(goals, with({.duration = seconds(10), .is_over = true}, seconds(10))),
            "rate b 5 missed\ndrops b 0 met\n");
  EXPECT_EQ(outcome(goals, with({.start = seconds(4), .duration = seconds(1), .is_over = true})),
            "rate b 10 met\ndrops b 0 met\n")
      << "the rate has it already";
  EXPECT_EQ(outcome(goals, with({.start = seconds(90), .duration = seconds(1), .is_over = true}, seconds(10), 40)),
            "rate b 5 missed\ndrops b 0 met\n")
      << "the first one is none of the latest";
  EXPECT_EQ(outcome(goals, with({.start = seconds(90), .duration = seconds(10)}, seconds(10), 40)),
            "rate b 3.333 missed\ndrops b 0 met\n")
      << "away at both ends";
}

TEST_F(Goals, OfMemoryAndSizeAreInBytes) {
  EXPECT_EQ(outcome(read("memory = \"1 GiB\"\n[model.net]\nsize = \"3 MB\"")),
            "memory  2e+08 met\nsize net 4e+06 missed\n");
}

TEST_F(Goals, OfAccuracyAreOfAReport) {
  folder_.write("report.json", R"({"models": [{"file": "models/other.onnx", "scores": {"box": {"ap": 0.9}}},
                                              {"file": "models/net.onnx", "scores": {"box": {"ap": 0.37, "ap50": 0.6}}}]})");
  const std::string report = "report = \"report.json\"\n";
  EXPECT_EQ(outcome(read("[model.net]\naccuracy = 0.36\n" + report)), "accuracy net 0.37 met\n");
  EXPECT_EQ(outcome(read("[model.net]\naccuracy = 0.38\n" + report)), "accuracy net 0.37 missed\n");
  folder_.write("twice.json", R"({"models": [{"file": "net.onnx", "scores": {"box": {"ap": 0.9}}},
                                             {"file": "net.onnx", "scores": {"box": {"ap": 0.8}}}]})");
  EXPECT_THAT(error_of("[model.net]\naccuracy = 0.3\nreport = \"twice.json\""), HasSubstr("several evaluations"));
  folder_.write("null.json", R"({"models": [{"file": "net.onnx", "scores": {"box": {"ap": null, "ap50": 0.5}}}]})");
  EXPECT_THAT(error_of("[model.net]\naccuracy = 0.3\nreport = \"null.json\""), HasSubstr("no score"));
  EXPECT_THAT(error_of("[model.third]\naccuracy = 0.3\n" + report), HasSubstr("no score of the model 'third'"));
  EXPECT_THAT(error_of("[model.net]\naccuracy = 0.3"), HasSubstr("'model.net.report' is missing"));
  folder_.write("report.json", "{}");
  EXPECT_THAT(error_of("[model.net]\naccuracy = 0.3\n" + report), HasSubstr("is no report of saccade validate"));
}

TEST_F(Goals, OfAccuracyAreOfThePrecisionThatRuns) {
  const auto error_of_run = [&](const std::string& report, Precision precision) -> std::string {
    folder_.write("report.json", R"({"models": [{)" + report + R"(, "scores": {"box": {"ap": 0.37}}}]})");
    const std::vector<GoalModel> models{{"net", precision}};
    try {
      check_goals(read("[model.net]\naccuracy = 0.3\nreport = \"report.json\""), {}, models);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string in_fp32 = R"("file": "net.onnx", "precision": "fp32")";
  EXPECT_EQ(error_of_run(in_fp32, Precision::kFp32), "");
  EXPECT_EQ(error_of_run(in_fp32, Precision::kBf16),
            (folder_ / "report.json") +
                " has the accuracy of the model 'net' in fp32, but it runs in bf16: evaluate it with saccade validate "
                "--precision bf16");
  const std::string as_usual = R"("file": "net.onnx", "precision": "auto")";
  EXPECT_EQ(error_of_run(as_usual, Precision::kFp32), "");
  EXPECT_THAT(error_of_run(as_usual, Precision::kFp16), HasSubstr("in fp32, but it runs in fp16"));
  EXPECT_EQ(error_of_run(R"("file": "net.plan", "precision": "auto")", Precision::kFp16), "") << "that of the plan";
}

TEST_F(Goals, ThatCannotBeMeasuredAreMissed) {
  EXPECT_EQ(outcome(read("late = 0.5")), "late a nothing missed\nlate b 0.0303 met\n") << "a file is never late";
  EXPECT_EQ(outcome(read("latency_p99 = \"1 s\"\nmemory = 1\n"), {.summary = {.streams = {{.source = "a"}}}}),
            "latency_p99 a nothing missed\nmemory  nothing missed\n");
  EXPECT_EQ(outcome(read("[model.other]\nsize = 1"), two_sources()), "size other nothing missed\n");
}

TEST_F(Goals, AreRefusedByLine) {
  EXPECT_EQ(error_of("rate = 30\nlatency = \"16 ms\""),
            path() +
                ":2: 'latency' is not known; the keys are latency_p50, latency_p90, latency_p95, latency_p99, "
                "latency_p999, latency_max, rate, drops, late, memory, model, source");
  EXPECT_THAT(error_of("latency_p99 = \"16 km\""), HasSubstr(":1: 'latency_p99' is invalid"));
  EXPECT_THAT(error_of("rate = 30\nlatency_p99 = 16"), HasSubstr(":2: 'latency_p99' must have a unit, as \"16 ms\""));
  EXPECT_THAT(error_of("drops = 3"), HasSubstr("must be a share from 0 to 1"));
  EXPECT_THAT(error_of("drops = \"3\""), HasSubstr("must be a share from 0 to 1"));
  EXPECT_THAT(error_of("rate = \"30\""), HasSubstr("must be a number above 0"));
  EXPECT_THAT(error_of("source = 3"), HasSubstr("must be a table"));
  EXPECT_EQ(read("[source.\"rtsp://u:p@h/a#timeout=1s\"]\nrate = 1").front().source, "rtsp://u:***@h/a");
  EXPECT_THAT(error_of("[source]\na = 3"), HasSubstr("'source.a' must be a table"));
  EXPECT_THAT(error_of(""), HasSubstr("has no goal"));
  EXPECT_THAT(error_of("rate = "), HasSubstr("can't be read"));
}

TEST_F(Goals, AreOfWhatRuns) {
  const std::vector<Goal> goals = read("[source.a]\nrate = 1\n[model.net]\nsize = 1");
  const std::vector<std::string> a{"a"};
  const std::vector<GoalModel> net{{"net"}};
  EXPECT_NO_THROW(check_goals(goals, a, net));
  const std::vector<std::string> other{"net"};
  EXPECT_THROW(check_goals(goals, other, net), Error);
  const std::vector<GoalModel> other_model{{"a"}};
  EXPECT_THROW(check_goals(goals, a, other_model), Error);
  const std::vector<GoalModel> twice{{"net"}, {"net"}};
  EXPECT_THROW(check_goals(goals, a, twice), Error);
}

}  // namespace
}  // namespace saccade
