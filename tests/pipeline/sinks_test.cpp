#include "saccade/sinks.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "media/frame_reader.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "saccade/error.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/size_limit.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;

/// A black frame, and a result for it.
struct Sample {
  explicit Sample(int width = 32, int height = 16)
      : pixels(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
        frame(view_of(RgbView{pixels.data(), 3 * width, width, height})) {
    result.source = "a \"file\", named oddly";
    result.model = "m";
    result.width = width;
    result.height = height;
    result.detections.push_back({{1, 2, 5, 8}, 3, "cat, big", 0.5F});
  }

  std::vector<std::uint8_t> pixels;
  FrameView frame;
  Result result;
};

TEST(Sinks, JsonLinesEscapeNames) {
  const test::TempFolder folder;
  const Sample sample;
  const auto sink = open_jsonl(folder / "out.jsonl");
  sink->write(sample.result, sample.frame);
  sink->close({});
  const std::string text = test::bytes_of_file(folder / "out.jsonl");
  const json line = json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(line["source"], "a \"file\", named oddly");
  EXPECT_EQ(line["detections"][0]["class"], "cat, big");
  EXPECT_EQ(line["detections"][0]["class_id"], 3);
  EXPECT_FALSE(line.contains("name"));
  EXPECT_EQ(json::parse(text.substr(text.find('\n')))["event"], "summary");
}

TEST(Sinks, JsonLinesHaveTheTimeOfCapture) {
  const test::TempFolder folder;
  Sample sample;
  const auto sink = open_jsonl(folder / "out.jsonl", {.summary = false});
  sink->write(sample.result, sample.frame);
  for (const std::int64_t microseconds : {std::int64_t{0}, std::int64_t{951'782'399'000'042}}) {
    sample.result.captured_at = std::chrono::system_clock::time_point(std::chrono::microseconds(microseconds));
    sink->write(sample.result, sample.frame);
  }
  sink->close({});
  std::istringstream lines(test::bytes_of_file(folder / "out.jsonl"));
  std::string line;
  std::getline(lines, line);
  EXPECT_FALSE(json::parse(line).contains("captured_at")) << "a file has none";
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line)["captured_at"], "1970-01-01T00:00:00.000000Z");
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line)["captured_at"], "2000-02-28T23:59:59.000042Z");
}

TEST(Sinks, JsonLinesOmitTheSummaryOnRequest) {
  const test::TempFolder folder;
  const Sample sample;
  const auto sink = open_jsonl(folder / "out.jsonl", {.summary = false});
  sink->write(sample.result, sample.frame);
  sink->close({});
  const std::string text = test::bytes_of_file(folder / "out.jsonl");
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  EXPECT_EQ(text.find("\"event\""), std::string::npos) << text;
}

TEST(Sinks, CsvQuotesWhatWouldSplit) {
  const test::TempFolder folder;
  const Sample sample;
  const auto sink = open_csv(folder / "out.csv");
  sink->write(sample.result, sample.frame);
  sink->close({});
  EXPECT_NE(test::bytes_of_file(folder / "out.csv")
                .find("0,\"a \"\"file\"\", named oddly\",,0,0,m,3,\"cat, big\",0.5,1,2,5,8,object,,,,,,,,,,,,,,,,,\n"),
            std::string::npos);
}

TEST(Sinks, CsvHasNoFormulasAndNoLinesOfNames) {
  const test::TempFolder folder;
  Sample sample;
  const auto row_of = [&](const std::string& name) {
    sample.result.detections[0].class_name = name;
    const auto sink = open_csv(folder / "one.csv");
    sink->write(sample.result, sample.frame);
    sink->close({});
    const std::string text = test::bytes_of_file(folder / "one.csv");
    EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
    return text;
  };
  for (const auto& [name, field] : {std::pair<const char*, const char*>{"=1+1", ",'=1+1,"},
                                    {"+1", ",'+1,"},
                                    {"-1", ",'-1,"},
                                    {"@A1", ",'@A1,"},
                                    {"\ta", ",'\\ta,"},
                                    {"\ra", ",'\\ra,"},
                                    {"a=1", ",a=1,"},
                                    {"=HYPERLINK(\"x\",\"y\")", ",\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\","},
                                    {"b\nc", ",b\\nc,"},
                                    {"\x1b[2J", ",\\x1b[2J,"}})
    EXPECT_NE(row_of(name).find(field), std::string::npos) << row_of(name);
}

TEST(Sinks, YoloClassesStayInTheirLine) {
  const test::TempFolder folder;
  Sample sample;
  std::vector<Classification> classes = {{0, "cat\n0.99 forged\x1b[2J", 0.5F}};
  sample.result.task = Task::kClassify;
  sample.result.detections = {};
  sample.result.classes = classes;
  Model model = test::load_on_cpu(test::write_color_classifier(folder));
  const auto sink = open_yolo(folder / "labels", {&model, 1}, 1, {});
  sink->write(sample.result, sample.frame);
  sink->close({});
  for (const auto& file : std::filesystem::directory_iterator(folder / "labels"))
    EXPECT_EQ(test::bytes_of_file(file.path().string()), "0.50 cat\\n0.99 forged\\x1b[2J\n");
}

TEST(Sinks, CocoNumbersImagesByFrameWhereTheNameHasNoNumber) {
  const test::TempFolder folder;
  const std::vector<Model> models = {test::load_on_cpu(test::write_box_detector(folder))};
  Sample sample;
  const auto sink = open_coco(folder / "out.json", models, {});
  sample.result.frame = 4;
  sink->write(sample.result, sample.frame);
  sample.result.image_id = 139;
  sink->write(sample.result, sample.frame);
  sink->close({});
  const json results = json::parse(test::bytes_of_file(folder / "out.json"));
  EXPECT_EQ(results[0]["image_id"], 4);
  EXPECT_EQ(results[1]["image_id"], 139);
  EXPECT_EQ(results[0]["bbox"], json({1, 2, 4, 6}));
  EXPECT_EQ(results[0]["category_id"], 3);
}

TEST(Sinks, AVideoDrawsTheResultsOfAllModelsOnOneFrame) {
  const test::TempFolder folder;
  const std::vector<Source> sources = {test::scripted_source("a", {})};
  const auto sink = open_video(folder / "out.mp4", sources);
  Sample sample(64, 64);
  for (int frame = 0; frame < 3; ++frame)
    for (int model = 0; model < 2; ++model) {
      sample.result.frame = frame;
      sample.result.model_index = model;
      sink->write(sample.result, sample.frame);
    }
  sink->close({});
  FramePool pool(2);
  const auto written = open_reader(folder / "out.mp4");
  int frames = 0;
  while (written->read(pool)) ++frames;
  EXPECT_EQ(frames, 3);
}

TEST(Sinks, EverySourceHasAVideoOfItsOwn) {
  const test::TempFolder folder;
  const std::vector<Source> sources = {test::scripted_source("a", {}), test::scripted_source("b", {})};
  const auto sink = open_video(folder / "out.mp4", sources);
  Sample sample(64, 64);
  sink->write(sample.result, sample.frame);
  sample.result.stream = 1;
  sink->write(sample.result, sample.frame);
  sink->close({});
  EXPECT_TRUE(std::filesystem::exists(folder / "out.mp4"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out-1.mp4"));
}

TEST(Sinks, VideosThatAreSinksOfTheirOwnHaveTheSameFiles) {
  const test::TempFolder folder;
  const std::vector<Source> sources = {test::scripted_source("a", {}), test::scripted_source("b", {})};
  const auto sinks = open_videos(folder / "out.mp4", sources);
  ASSERT_EQ(sinks.size(), 2U);
  EXPECT_EQ(sinks[0]->path(), folder / "out.mp4");
  EXPECT_EQ(sinks[1]->path(), folder / "out-1.mp4");
  Sample sample(64, 64);
  for (std::size_t i = 0; i < 2; ++i) {
    sample.result.stream = static_cast<int>(i);
    sinks[i]->write(sample.result, sample.frame);
    sinks[i]->close({});
    EXPECT_EQ(open_reader(sinks[i]->path())->info().width, 64);
  }
}

/// A frame is written once the next one has begun: its error is the next one's, which is written later all the same.
TEST(Sinks, FramesFailOnceEachWhileTheirFolderIsAway) {
  const test::TempFolder folder;
  const auto sink = open_frames(folder / "frames");
  Sample sample(64, 64);
  const auto write = [&](std::int64_t frame) {
    sample.result.frame = frame;
    sink->write(sample.result, sample.frame);
  };
  write(0);
  write(1);
  std::filesystem::rename(folder / "frames", folder / "away");
  EXPECT_THROW(write(2), Error);
  EXPECT_THROW(write(3), Error) << "nothing was written in between";
  std::filesystem::rename(folder / "away", folder / "frames");
  write(4);
  sink->close({});
  const auto written = std::filesystem::directory_iterator(folder / "frames");
  EXPECT_EQ(std::distance(begin(written), end(written)), 3) << "of the frames 0, 3 and 4";
}

TEST(Sinks, AVideoRefusesAnotherSize) {
  const test::TempFolder folder;
  const std::vector<Source> sources = {test::scripted_source("a", {})};
  const auto sink = open_video(folder / "out.mp4", sources);
  const Sample first(64, 64);
  sink->write(first.result, first.frame);
  Sample second(32, 64);
  second.result.frame = 1;
  sink->write(second.result, second.frame);  // completes the first frame
  second.result.model_index = 1;
  sink->write(second.result, second.frame);
  EXPECT_EQ(sink->failed(), 0);
  Sample third(64, 64);
  third.result.frame = 2;
  sink->write(third.result, third.frame);
  EXPECT_EQ(sink->failed(), 2) << "both results of the second frame";
  try {
    sink->close({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("frame 1 is 32x64 where the first one was 64x64"), std::string::npos)
        << error.what();
  }
}

TEST(Sinks, FramesOfAnySizeAreWritten) {
  const test::TempFolder folder;
  const auto sink = open_frames(folder / "drawn");
  const Sample first(64, 64);
  sink->write(first.result, first.frame);
  Sample second(32, 16);
  second.result.frame = 1;
  sink->write(second.result, second.frame);
  sink->close({});
  EXPECT_EQ(open_reader(folder / "drawn/0-000000.jpg")->info().width, 64);
  EXPECT_EQ(open_reader(folder / "drawn/0-000001.jpg")->info().width, 32);
}

/// Whether the disk was full at first or later: what could be written is a whole file.
TEST(Sinks, GoOnAfterAFullDisk) {
  const test::TempFolder folder;
  const Sample sample;
  for (const bool at_first : {false, true}) {
    const std::vector<Model> models = {test::load_on_cpu(test::write_box_detector(folder))};
    const std::array sinks = {open_jsonl(folder / "out.jsonl", {.summary = false}), open_csv(folder / "out.csv"),
                              open_coco(folder / "out.json", models, {})};
    for (const auto& sink : sinks) {
      if (!at_first) sink->write(sample.result, sample.frame);
      {
        const test::SizeLimit full(at_first ? 3 : 500);
        for (int i = 0; i < 2; ++i)
          EXPECT_THROW(for (int k = 0; k < 9; ++k) sink->write(sample.result, sample.frame), Error);
      }
      sink->write(sample.result, sample.frame);
      sink->close({});
    }
    const std::string csv = test::bytes_of_file(folder / "out.csv");
    EXPECT_TRUE(csv.starts_with("stream,source,")) << csv;
    const std::string lines = test::bytes_of_file(folder / "out.jsonl");
    for (std::size_t start = 0, end = 0; (end = lines.find('\n', start)) != std::string::npos; start = end + 1)
      EXPECT_TRUE(json::accept(lines.substr(start, end - start))) << lines;
    EXPECT_TRUE(lines.ends_with("}\n"));
    const json coco = json::parse(test::bytes_of_file(folder / "out.json"));
    EXPECT_GE(coco.size(), at_first ? 1U : 2U);
    EXPECT_EQ(coco.back()["bbox"].size(), 4U);
  }
}

}  // namespace
}  // namespace saccade
