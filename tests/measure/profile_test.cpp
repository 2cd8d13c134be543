#include "measure/profile/profile.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "measure/profile/profile_report.hpp"
#include "measure/profile/trace.hpp"
#include "measure/trace_events.hpp"
#include "media/looping_reader.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/model/model_impl.hpp"
#include "support/cpu_model.hpp"
#include "support/frames.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;

/// A machine with round numbers.
Ceilings ceilings() {
  const Bandwidth bandwidth{.read = 1e10, .write = 1e10, .copy = 1e10, .mixed = 1e10};
  return {.device = "synthetic",
          .compute = {{"FMA", OperandType::kFloat32, 1e11, 1e11}},
          .memory = {{"L1d", 32768, bandwidth, bandwidth}, {"memory", 0, bandwidth, bandwidth}},
          .clock = Nanoseconds(20)};
}

class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.frames = 40;
    options_.duration = {};
    options_.ceilings = &ceilings_;
    options_.overhead_budget = std::chrono::nanoseconds(0);
    std::vector<std::uint8_t> pixels(3 * 16 * 8, 200);
    for (const char* name : {"1.png", "2.png", "3.png"})
      write_image(folder_ / name, view_of(RgbView{pixels.data(), 3 * 16, 16, 8}));
  }

  /// The images are beside the model's files, which are none.
  Profile profile() {
    return profile_frames(test::load_on_cpu(test::write_box_detector(models_)), folder_.string(), options_);
  }

  test::TempFolder folder_;
  test::TempFolder models_;
  const Ceilings ceilings_ = ceilings();
  ProfileOptions options_;
};

TEST(ProfileDefault, IsATimeThatSlowModelsTakeToo) {
  EXPECT_EQ(ProfileOptions().duration, std::chrono::seconds(10));
  EXPECT_EQ(ProfileOptions().frames, std::numeric_limits<std::int64_t>::max());
}

TEST_F(ProfileTest, MeasuresEveryStageAndLaunch) {
  const Profile made = profile();
  EXPECT_EQ(made.frames, 40);
  EXPECT_EQ(made.model, "boxes");
  EXPECT_EQ(made.frame, "16x8 rgb24");
  ASSERT_EQ(made.stages.size(), 6U);
  for (const StageProfile& stage : made.stages) EXPECT_EQ(stage.time.count, 40) << stage.name;
  ASSERT_TRUE(made.stages[0].bound) << "of a capture: that its frame is written";
  EXPECT_EQ(made.stages[0].bound->work.write_bytes, 16 * 8 * 3);
  EXPECT_FALSE(made.stages[1].bound) << "a wait in the queue";
  EXPECT_TRUE(made.stages[2].bound);
  std::size_t launches = 0;
  for (const Step& step : made.plan->steps()) launches += step.launch != nullptr;
  ASSERT_EQ(made.launches.size(), launches);
  double share = 0;
  for (const LaunchProfile& launch : made.launches) {
    EXPECT_EQ(launch.time.count, 40) << launch.operation;
    EXPECT_GE(launch.bound.time.count(), 20);
    share += launch.share;
  }
  EXPECT_GT(share, 0);
  EXPECT_LE(share, 1);
  EXPECT_EQ(made.launches[0].operation, "saccade.Preprocess");
  EXPECT_EQ(made.launches[0].stage, Stage::kPre);
  EXPECT_GE(made.overhead.blocks, 5);
  EXPECT_EQ(made.overhead.events, static_cast<double>(launches));
  EXPECT_FALSE(made.bottleneck.sentence.empty());
}

TEST_F(ProfileTest, BoundsAFrameByThoseOfItsTiles) {
  std::vector<std::uint8_t> pixels(3 * 80 * 32, 200);
  test::TempFolder images;
  write_image(images / "1.png", view_of(RgbView{pixels.data(), 3 * 80, 80, 32}));
  const TileOptions tiles{.size = 32, .overlap = 0};
  const Profile made = profile_frames(test::load_on_cpu(test::write_box_detector(models_), {.tiles = tiles}),
                                      images / "1.png", options_);
  EXPECT_EQ(made.frame, "80x32 rgb24, 4 tiles");
  ASSERT_TRUE(made.stages[3].bound);
  EXPECT_EQ(made.stages[3].bound->time, 4 * made.bounds.stages[static_cast<std::size_t>(Stage::kModel)].time);
  EXPECT_EQ(made.stages[0].bound->work.write_bytes, 80 * 32 * 3) << "a frame is captured once";
}

TEST_F(ProfileTest, EndsWhenTheCallbackSays) {
  options_.on_frame = [](std::int64_t frames) { return frames < 7; };
  EXPECT_EQ(profile().frames, 7);
}

TEST_F(ProfileTest, TracesWhatTheJsonLinesSay) {
  options_.trace = true;
  const auto sink = open_jsonl(models_ / "lines.jsonl");
  options_.sink = sink.get();
  OutputFile file(models_ / "trace.json");
  write_trace(profile(), file);
  const json trace = json::parse(test::bytes_of_file(models_ / "trace.json"));
  test::expect_schema(trace);
  test::expect_nesting(trace);
  std::vector<std::pair<int, std::int64_t>> lines;
  std::istringstream text(test::bytes_of_file(models_ / "lines.jsonl"));
  for (std::string line; std::getline(text, line);) {
    const json object = json::parse(line);
    if (!object.contains("event")) lines.emplace_back(object["stream"], object["frame"]);
  }
  EXPECT_EQ(lines.size(), 40U);
  EXPECT_EQ(test::frames_of(trace), lines);
  EXPECT_EQ(trace["otherData"]["frames_left_out"], "0");
}

TEST_F(ProfileTest, ReportsAsTextJsonAndPage) {
  const Profile made = profile();
  const std::string text = to_text(made, {.launches = 2, .is_utf8 = false}).str();
  EXPECT_NE(text.find("the 2 longest of "), std::string::npos) << text;
  EXPECT_NE(text.find("\nframes      40 in "), std::string::npos) << text;
  EXPECT_NE(text.find("\nbottleneck  "), std::string::npos);
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.size() <= 80 || line.starts_with("source") || line.starts_with("machine")) << line;
  for (const char* figure : {"mean", "dev", "p50", "p90", "p99", "max", "share", "bound", "headroom", "tactic"})
    EXPECT_NE(text.find(figure), std::string::npos) << figure;
  EXPECT_NE(text.find("bound  headroom"), std::string::npos) << text;
  const json report = to_json(made);
  EXPECT_EQ(report["frames"], 40);
  EXPECT_EQ(report["stages"][3]["name"], "model");
  EXPECT_EQ(report["stages"][3]["ms"]["count"], 40);
  EXPECT_EQ(report["launches"].size(), made.launches.size());
  EXPECT_EQ(report["bottleneck"]["sentence"], made.bottleneck.sentence);
  const std::string html = to_page(made, 5).html();
  EXPECT_NE(html.find("Roofline"), std::string::npos);
  EXPECT_EQ(html.find(">nan"), std::string::npos);
}

TEST_F(ProfileTest, SaysThatCeilingsWereTooLow) {
  Profile made = profile();
  for (LaunchProfile& launch : made.launches) launch.headroom = -0.02;
  EXPECT_EQ(to_text(made, {}).str().find("\nceilings "), std::string::npos) << "the clock drifts by as much";
  EXPECT_EQ(to_json(made)["launches_beyond_bound"], 0);
  made.launches.front().headroom = -0.26;
  const std::string sentence = "1 of " + std::to_string(made.launches.size()) + " launches took less than their bound";
  EXPECT_NE(to_text(made, {}).str().find("\nceilings "), std::string::npos);
  EXPECT_NE(to_page(made, 5).html().find(sentence), std::string::npos);
  EXPECT_EQ(to_json(made)["launches_beyond_bound"], 1);
}

TEST_F(ProfileTest, RunsOnTensorsIfTheModelIsNotRecognised) {
  const Model model = test::load_on_cpu(test::write_color_classifier(models_));
  options_.trace = true;
  const Profile made = profile_tensors(model, options_);
  EXPECT_EQ(made.frames, 40);
  EXPECT_EQ(made.source, "");
  EXPECT_EQ(made.stages[3].time.count, 40);
  OutputFile file(models_ / "trace.json");
  write_trace(made, file);
  const json trace = json::parse(test::bytes_of_file(models_ / "trace.json"));
  test::expect_schema(trace);
  test::expect_nesting(trace);
  EXPECT_EQ(test::frames_of(trace).size(), 40U);
}

TEST_F(ProfileTest, ALoopCountsOn) {
  const auto reader = open_looping(folder_.string());
  FramePool pool(2);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < 7; ++i) {
    const auto frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, i);
    names.emplace_back(frame->name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"1.png", "2.png", "3.png", "1.png", "2.png", "3.png", "1.png"}));
  reader->cancel();
  EXPECT_FALSE(reader->read(pool));
}

TEST(OperationName, ContainsTheWindow) {
  const auto name = [](std::int64_t group, const Shape& weights) {
    Graph graph;
    const ValueId x = graph.add_input("x", {DType::kFloat32, {1, 8, 8, 8}});
    const ValueId w = graph.add_constant("w", Tensor(DType::kFloat32, weights));
    Node node{.op = "Conv", .name = "c", .inputs = {x, w}, .outputs = {graph.add_value("y")}};
    node.attributes.set("group", group);
    node.post_ops.push_back({.op = "Silu"});
    return operation_name(graph, node);
  };
  EXPECT_EQ(name(1, {4, 8, 3, 3}), "Conv 3x3+Silu");
  EXPECT_EQ(name(8, {8, 1, 5, 5}), "Conv 5x5 depthwise+Silu");
  EXPECT_EQ(name(2, {8, 4, 1, 1}), "Conv 1x1 grouped+Silu");
}

}  // namespace
}  // namespace saccade
