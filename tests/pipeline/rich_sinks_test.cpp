// The sinks' output for results with more than boxes and classes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/module.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/rich_results.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "saccade/draw.hpp"
#include "saccade/error.hpp"
#include "saccade/npy.hpp"
#include "saccade/sinks.hpp"
#include "support/cpu_model.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"
#include "vision/tasks.hpp"

namespace saccade {
namespace {

using nlohmann::json;

TEST(Tasks, ThatFindObjects) {
  for (Task task : {Task::kDetect, Task::kSegment, Task::kPose, Task::kOriented}) EXPECT_TRUE(finds_objects(task));
  for (Task task : {Task::kClassify, Task::kSemantic, Task::kDepth, Task::kUpscale, Task::kEmbed, Task::kText})
    EXPECT_FALSE(finds_objects(task));
}

class RichSinks : public testing::Test {
 protected:
  void write(std::unique_ptr<Sink> sink) {
    sink->write(rich_.result, rich_.frame);
    sink->close({});
  }
  json line(const JsonlOptions& options = {}) {
    write(open_jsonl(folder_ / "out.jsonl", options));
    const std::string text = test::bytes_of_file(folder_ / "out.jsonl");
    return json::parse(text.substr(0, text.find('\n')));
  }
  std::vector<Model> detector() const { return {test::load_on_cpu(test::write_box_detector(folder_))}; }

  test::TempFolder folder_;
  test::RichResult rich_;
};

TEST_F(RichSinks, AResultAloneIsTheObjectOfItsLine) {
  const std::array events = {ZoneEvent{.zone = "gate", .track_id = 7}};
  rich_.result.zone_events = events;
  EXPECT_EQ(json::parse(to_json(rich_.result)), line());
  EXPECT_EQ(json::parse(to_json(rich_.result, true)), line({.contours = true}));
  EXPECT_EQ(to_json(rich_.result).find('\n'), std::string::npos);
}

TEST_F(RichSinks, AResultAloneIsDrawnAsItsFrame) {
  const auto draw_module = module<DrawModule>("draw");
  for (const bool has_image : {true, false}) {
    if (!has_image) rich_.result.image = {};
    std::vector<std::uint8_t> expected;
    const auto keep = [&](const DrawnFrame& drawn) {
      expected.assign(drawn.view().data, drawn.view().data + 3 * drawn.view().width * drawn.view().height);
    };
    DrawnFrame drawn(draw_module, keep);
    drawn.add(rich_.result, rich_.frame);
    drawn.finish();
    const Image image = draw(rich_.frame, {&rich_.result, 1});
    EXPECT_EQ(image.width(), has_image ? 16 : 8);
    EXPECT_TRUE(std::ranges::equal(image.samples(), expected));
  }
}

TEST_F(RichSinks, EventsOfZonesFollowTheirResult) {
  const std::array events = {ZoneEvent{.zone = "the \"gate\"",
                                       .kind = ZoneEventKind::kOut,
                                       .track_id = 7,
                                       .class_id = 2,
                                       .class_name = "cat",
                                       .since_ns = 5},
                             ZoneEvent{.zone = "yard",
                                       .kind = ZoneEventKind::kLeave,
                                       .track_id = 8,
                                       .class_id = 3,
                                       .stay = std::chrono::milliseconds(1250)}};
  rich_.result.zone_events = events;
  rich_.result.stream = 1;
  rich_.result.frame = 12;
  rich_.result.timestamp_ns = 480;
  write(open_jsonl(folder_ / "out.jsonl"));
  std::istringstream all(test::bytes_of_file(folder_ / "out.jsonl"));
  std::vector<std::string> lines;
  for (std::string each; std::getline(all, each);) lines.push_back(each);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_FALSE(json::parse(lines[0]).contains("event"));
  EXPECT_EQ(lines[1],
            R"({"event":"line","zone":"the \"gate\"","direction":"out","stream":1,"source":"scene","frame":12,)"
            R"("timestamp_ns":480,"model":"m","track_id":7,"class_id":2,"class":"cat","since_ns":5})");
  EXPECT_EQ(lines[2],
            R"({"event":"area","zone":"yard","kind":"leave","stream":1,"source":"scene","frame":12,)"
            R"("timestamp_ns":480,"model":"m","track_id":8,"class_id":3,"class":"","since_ns":0,"seconds":1.250})");
  EXPECT_EQ(json::parse(lines[3])["event"], "summary");

  write(open_jsonl(folder_ / "events.jsonl", {.results = false, .summary = false}));
  EXPECT_EQ(test::bytes_of_file(folder_ / "events.jsonl"), lines[1] + "\n" + lines[2] + "\n");
}

TEST_F(RichSinks, JsonLinesHoldWhatTheResultHolds) {
  const json text = line();

  const json object = text["detections"][0];
  EXPECT_EQ(object["track_id"], 12);
  EXPECT_EQ(object["mask"], json({{"size", {4, 8}}, {"counts", "43101N`0"}})) << object["mask"];
  EXPECT_EQ(object["keypoints"], json({{1.5, 1, 0.25}, {4, 2, 1}}));
  EXPECT_EQ(object["obb"], json({{"x", 3}, {"y", 2}, {"width", 2}, {"height", 4}, {"angle", 0}}));
  EXPECT_FALSE(object.contains("contours"));
  EXPECT_EQ(object["embedding"], json({0.75, 0.5}));
  EXPECT_EQ(object["text"], "AB 123");
  EXPECT_EQ(object["text_confidence"], 0.96875);
  EXPECT_EQ(object["classes"], json({{{"class_id", 5}, {"class", "tabby"}, {"confidence", 0.5}},
                                     {{"class_id", 9}, {"class", "lynx"}, {"confidence", 0.25}}}));
  EXPECT_EQ(text["uncropped"], 2);
  EXPECT_EQ(text["classes"][0]["class"], "indoors");
  EXPECT_EQ(text["segments"], json({{{"class_id", 4}, {"class", "sky"}, {"pixels", 20}},
                                    {{"class_id", 6}, {"class", "sea, open"}, {"pixels", 12}}}));
  EXPECT_EQ(text["depth"], json({{"kind", "metric"}, {"min", 0.5}, {"max", 2}, {"mean", 1.25}}));
  EXPECT_EQ(text["image"], json({{"width", 16}, {"height", 8}}));
  EXPECT_EQ(text["embedding"], json({0.5, -0.25}));
  EXPECT_EQ(text["text"], "=A, \"B\"");
  EXPECT_EQ(text["text_confidence"], 0.875);
}

TEST_F(RichSinks, JsonLinesHaveContoursOnRequest) {
  const json contours = line({.contours = true})["detections"][0]["contours"];

  EXPECT_EQ(contours, json::parse("[[[1,0],[1,2],[2,2],[3,1],[2,0]]]"));
}

TEST_F(RichSinks, JsonLinesHaveEmptyListsOfTheModelsTasks) {
  rich_.result = Result{};
  rich_.result.task = Task::kPose;
  EXPECT_EQ(line()["detections"], json::array());
  EXPECT_FALSE(line().contains("classes"));
  rich_.result.task = Task::kSemantic;
  EXPECT_EQ(line()["segments"], json::array());
  EXPECT_FALSE(line().contains("detections"));
  rich_.result.task = Task::kClassify;
  EXPECT_EQ(line()["classes"], json::array());
  rich_.result.task = Task::kEmbed;
  EXPECT_EQ(line()["embedding"], json::array());
  EXPECT_FALSE(line().contains("text"));
  rich_.result.task = Task::kText;
  EXPECT_EQ(line()["text"], "");
  EXPECT_EQ(line()["text_confidence"], 0);
}

TEST_F(RichSinks, CsvHasARowForEachOfThem) {
  write(open_csv(folder_ / "out.csv"));

  std::istringstream text(test::bytes_of_file(folder_ / "out.csv"));
  std::vector<std::string> rows;
  for (std::string row; std::getline(text, row);) rows.push_back(row);
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[1],
            "0,scene,,0,0,m,2,cat,0.5,1,0,5,3,object,7,3,2,2,4,0,1.5 1 0.25;4 2 1,,,,5,tabby,0.5,AB 123,0.96875,,12");
  EXPECT_EQ(rows[2], "0,scene,,0,0,m,1,indoors,0.75,,,,,class,,,,,,,,,,,,,,,,,");
  EXPECT_EQ(rows[3], "0,scene,,0,0,m,4,sky,,,,,,segment,20,,,,,,,,,,,,,,,,");
  EXPECT_EQ(rows[4], "0,scene,,0,0,m,6,\"sea, open\",,,,,,segment,12,,,,,,,,,,,,,,,,");
  EXPECT_EQ(rows[5], "0,scene,,0,0,m,,,,,,,,metric_depth,,,,,,,,0.5,2,1.25,,,,,,,");
  EXPECT_EQ(rows[6], "0,scene,,0,0,m,,,,,,,,text,,,,,,,,,,,,,,\"'=A, \"\"B\"\"\",0.875,,");
  const auto columns = std::ranges::count(rows[0], ',');
  for (std::size_t i : {1U, 2U, 3U, 5U}) EXPECT_EQ(std::ranges::count(rows[i], ','), columns) << rows[i];
}

TEST_F(RichSinks, CsvRefusesEmbeddings) {
  const std::string path = test::write_one_node(folder_, "vector", "GlobalAveragePool", {}, "decoder = \"embed\"\n");
  const std::vector<Model> models = {test::load_on_cpu(path)};
  EXPECT_EQ(models[0].task(), Task::kEmbed);
  EXPECT_THROW(open_csv(folder_ / "out.csv", models), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.csv"));
}

/// Results of damaged weights.
class FaultySinks : public RichSinks {
 protected:
  FaultySinks() {
    Result& result = rich_.result;
    result.faults.add(Fault::kNotFiniteKeypoint);
    result.faults.add(Fault::kNotFiniteDepth);
    rich_.points = {{NAN, 1, 0.25F}, {4, INFINITY, NAN}, {2, 2, 1}};
    result.detections[0].keypoints = rich_.points;
    result.depth.min = result.depth.max = result.depth.mean = NAN;
  }
  std::vector<std::string> csv() {
    write(open_csv(folder_ / "out.csv"));
    std::istringstream text(test::bytes_of_file(folder_ / "out.csv"));
    std::vector<std::string> rows;
    for (std::string row; std::getline(text, row);) rows.push_back(row);
    return rows;
  }
};

TEST_F(FaultySinks, JsonLinesSayThatTheyAreInvalid) {
  json text = line();
  EXPECT_EQ(text["invalid"], true);
  EXPECT_EQ(text["depth"], json({{"kind", "metric"}, {"min", nullptr}, {"max", nullptr}, {"mean", nullptr}}));
  EXPECT_EQ(text["detections"][0]["keypoints"], json({{nullptr, 1, 0.25}, {4, nullptr, nullptr}, {2, 2, 1}}));
  rich_.result.faults = {};
  EXPECT_FALSE(line().contains("invalid"));
}

TEST_F(FaultySinks, CsvLeavesFieldsEmptyAndSaysItInTheLast) {
  const auto rows = csv();
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_TRUE(rows[0].ends_with(",invalid,track_id"));
  EXPECT_EQ(
      rows[1],
      "0,scene,,0,0,m,2,cat,0.5,1,0,5,3,object,7,3,2,2,4,0, 1 0.25;4  ;2 2 1,,,,5,tabby,0.5,AB 123,0.96875,true,12");
  EXPECT_EQ(rows[5], "0,scene,,0,0,m,,,,,,,,metric_depth,,,,,,,,,,,,,,,,true,");
  for (const std::string& row : {rows[1], rows[2], rows[3], rows[5]})
    EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(rows[0], ',')) << row;
}

TEST_F(FaultySinks, CsvHasARowOfAFrameWithoutPredictions) {
  rich_.result.detections.clear();
  rich_.result.classes.clear();
  rich_.result.segments.clear();
  rich_.result.depth = {};
  rich_.result.text = {};
  EXPECT_EQ(csv(), (std::vector<std::string>{csv()[0], "0,scene,,0,0,m,,,,,,,,none,,,,,,,,,,,,,,,,true,"}));
  rich_.result.faults = {};
  EXPECT_EQ(csv().size(), 1U);
}

TEST_F(FaultySinks, CocoAndYoloHaveNoPointThere) {
  const auto models = detector();
  write(open_coco(folder_ / "out.json", models, {}));
  EXPECT_EQ(json::parse(test::bytes_of_file(folder_ / "out.json"))[0]["keypoints"], json({0, 0, 0, 0, 0, 0, 2, 2, 2}));
  rich_.result.detections[0].mask.reset();
  rich_.result.detections[0].oriented.reset();
  write(open_yolo(folder_ / "labels", models, 1, {}));
  EXPECT_EQ(test::bytes_of_file(folder_ / "labels/0-000000.txt"), "2 0.375 0.375 0.5 0.75 0 0 0 0 0 0 0.25 0.5 1 12\n");
}

TEST_F(FaultySinks, InvalidNumbersAreDrawn) {
  constexpr float kHuge = 3e38F;
  Result& result = rich_.result;
  result.detections[0].mask.reset();
  for (float x : {NAN, INFINITY, -INFINITY, kHuge, -kHuge, 2.0F})
    for (float y : {NAN, INFINITY, -kHuge, 3.0F}) {
      result.detections[0].box = {x, y, y, x};
      result.detections[0].oriented = OrientedBox{x, y, y, x, x};
      result.detections[0].confidence = x;
      rich_.points = {{x, y, 1}};
      result.detections[0].keypoints = rich_.points;
      result.classes[0].confidence = y;
      rich_.depths = {x, y};
      result.depth.min = x;
      result.depth.max = y;
      rich_.ids = {-1, 6};
      write(open_frames(folder_ / "out"));
      result.detections[0].oriented.reset();
      write(open_frames(folder_ / "out"));
    }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/0-000000.jpg"));
}

TEST_F(RichSinks, CocoHasMasksAndKeypoints) {
  const auto models = detector();
  write(open_coco(folder_ / "out.json", models, {}));

  const json object = json::parse(test::bytes_of_file(folder_ / "out.json"))[0];
  EXPECT_EQ(object["bbox"], json({1, 0, 4, 3}));
  EXPECT_EQ(object["segmentation"], json({{"size", {4, 8}}, {"counts", "43101N`0"}}));
  EXPECT_EQ(object["keypoints"], json({1.5, 1, 2, 4, 2, 2}));
  EXPECT_EQ(object["score"], 0.5);
}

TEST_F(RichSinks, CocoRefusesAModelThatFindsNoObjects) {
  const std::vector<Model> models = {test::load_on_cpu(test::write_color_classifier(folder_))};
  try {
    open_coco(folder_ / "out.json", models, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("color's task is classify"), std::string::npos) << error.what();
  }
}

TEST_F(RichSinks, YoloLabelsAreTheMasksBordersAndTheKeypoints) {
  write(open_yolo(folder_ / "labels", detector(), 1, {.confidence = true}));

  EXPECT_EQ(test::bytes_of_file(folder_ / "labels/0-000000.txt"),
            "2 0.1875 0.125 0.1875 0.625 0.3125 0.625 0.4375 0.375 0.3125 0.125 0.1875 0.25 0.25 0.5 0.5 1 0.5 12\n");
}

TEST_F(RichSinks, YoloLabelsOfClassifiersAreConfidencesAndNames) {
  rich_.result.task = Task::kClassify;
  rich_.result.detections.clear();
  write(open_yolo(folder_ / "labels", detector(), 1));

  EXPECT_EQ(test::bytes_of_file(folder_ / "labels/0-000000.txt"), "0.75 indoors\n");
}

TEST_F(RichSinks, YoloLabelsOfTurnedBoxesAreTheirCornersAndOfOthersCentreAndSize) {
  rich_.result.classes.clear();
  Detection& object = rich_.result.detections[0];
  object.mask.reset();
  object.keypoints = {};
  rich_.result.detections.push_back(object);
  rich_.result.detections[1].oriented.reset();
  rich_.result.name = "street 7.jpg";
  write(open_yolo(folder_ / "labels", detector(), 1));

  EXPECT_EQ(test::bytes_of_file(folder_ / "labels/street 7.txt"),
            "2 0.5 1 0.5 0 0.25 0 0.25 1 12\n"
            "2 0.375 0.375 0.5 0.75 12\n");
}

TEST_F(RichSinks, YoloLabelsOfMasksThatEncloseNothing) {
  rich_.result.classes.clear();
  rich_.points.clear();
  Detection& object = rich_.result.detections[0];
  object.keypoints = {};
  rich_.result.detections.push_back(object);
  const MaskRun pixel = {1, 2, 4};
  rich_.result.detections[0].mask = Mask{};
  rich_.result.detections[1].mask = Mask{{&pixel, 1}, 2};
  write(open_yolo(folder_ / "labels", detector(), 1));

  EXPECT_EQ(test::bytes_of_file(folder_ / "labels/0-000000.txt"), "2 0.25 0.25 0.25 0.5 0.5 0.5 0.5 0.25 12\n");
}

TEST_F(RichSinks, YoloFilesOfSeveralSourcesAndModelsDoNotMeet) {
  auto models = detector();
  models.push_back(models.front());
  const auto sink = open_yolo(folder_ / "labels", models, 2);
  for (const char* name : {"a.jpg", "a.png"})
    for (int stream : {0, 1})
      for (int model : {0, 1}) {
        rich_.result.stream = stream;
        rich_.result.model_index = model;
        rich_.result.name = name;
        sink->write(rich_.result, rich_.frame);
      }

  for (const char* model : {"0-boxes", "1-boxes"})
    for (const char* name : {"0-a", "1-a", "0-a.png", "1-a.png"})
      EXPECT_FALSE(test::bytes_of_file(folder_ / ("labels/" + std::string(model) + "/" + name + ".txt")).empty())
          << model << ' ' << name;
}

TEST_F(RichSinks, YoloFilesOfOneFolderDoNotMeet) {
  const auto sink = open_yolo(folder_ / "labels", detector(), 1);
  for (const char* name : {"a.jpg", "a.k.jpg", "a.png", "b.png.jpg", "b.jpg", "b.png"}) {
    rich_.result.name = name;
    rich_.result.detections[0].class_id = rich_.result.name == "a.jpg" ? 7 : 2;
    sink->write(rich_.result, rich_.frame);
  }

  for (const char* name : {"a", "a.k", "a.png", "b.png", "b", "b.png-1"})
    EXPECT_FALSE(test::bytes_of_file(folder_ / ("labels/" + std::string(name) + ".txt")).empty()) << name;
  EXPECT_TRUE(test::bytes_of_file(folder_ / "labels/a.txt").starts_with("7 "));
}

TEST_F(RichSinks, MapsLieBesideTheImages) {
  write(open_frames(folder_ / "out"));

  const Tensor depth = load_npy(folder_ / "out/0-000000.depth.npy");
  ASSERT_EQ(depth.shape(), (Shape{4, 8}));
  EXPECT_EQ(depth.data<float>()[0], 0.5F);
  EXPECT_EQ(depth.data<float>()[8 + 7], 2);
  EXPECT_TRUE(std::isnan(depth.data<float>()[3 * 8]));
  FramePool pool(2);
  const auto classes = open_reader(folder_ / "out/0-000000.classes.png")->read(pool);
  ASSERT_TRUE(classes);
  const FrameView& view = classes->view;
  EXPECT_EQ(view.planes[0][0], 4);
  EXPECT_EQ(view.planes[0][3 * 7], 6);
  EXPECT_EQ(view.planes[0][3 * view.pitch_bytes[0]], 255);
  // The drawing is on the model's output image.
  EXPECT_EQ(open_reader(folder_ / "out/0-000000.jpg")->info().width, 16);
}

TEST_F(RichSinks, AClassThatAByteCanNotHoldCostsItsMap) {
  rich_.ids[1] = 255;
  const auto sink = open_frames(folder_ / "out");
  sink->write(rich_.result, rich_.frame);
  try {
    sink->close({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the class ID 255 does not fit 8 bits"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace saccade
