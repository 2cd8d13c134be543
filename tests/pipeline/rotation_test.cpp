#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "media/frame_reader.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "saccade/custom_source.hpp"
#include "saccade/sinks.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// A black frame with an object, for sinks that rotate.
struct RotatedSample {
  RotatedSample() : pixels(3 * 64 * 64), frame(view_of(RgbView{pixels.data(), 3 * 64, 64, 64})) {
    result.source = "source";
    result.model = "m";
    result.width = result.height = 64;
    result.detections.push_back({.box = {1, 2, 5, 8}, .class_id = 3, .class_name = "cat", .confidence = 0.5F});
  }

  void write(Sink& sink, int number) {
    result.frame = number;
    result.timestamp_ns = 3'600'000'000'000 + number * 40'000'000LL;
    sink.write(result, frame);
  }

  std::vector<std::uint8_t> pixels;
  FrameView frame;
  Result result;
};

/// The NUMBERth file of the series NAME.
std::string file_of(const test::TempFolder& folder, const std::string& name, int number, const std::string& ending) {
  return folder / fmt::format("{}-{:06}{}", name, number, ending);
}

std::ptrdiff_t files_in(const test::TempFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.string()), {});
}

TEST(Rotation, JsonLinesEndWithTheSummaryInTheLastFile) {
  const test::TempFolder folder;
  RotatedSample sample;
  const auto sink = open_jsonl(folder / "out.jsonl", {.rotation = {.bytes = 800}});
  for (int i = 0; i < 5; ++i) sample.write(*sink, i);
  sink->close({});
  int frame = 0;
  const auto files = static_cast<int>(files_in(folder));
  EXPECT_EQ(files, 3);
  for (int number = 1; number <= files; ++number) {
    const std::string text = test::bytes_of_file(file_of(folder, "out", number, ".jsonl"));
    EXPECT_EQ(text.back(), '\n');
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const json object = json::parse(line);
      const bool is_summary = object.contains("event");
      EXPECT_EQ(is_summary, frame == 5) << line;
      if (!is_summary) {
        EXPECT_EQ(object["frame"], frame);
        ++frame;
      }
    }
    EXPECT_TRUE(number == files || text.size() <= 800) << text.size();
  }
  EXPECT_EQ(frame, 5);
}

TEST(Rotation, EveryCsvFileHasTheHeader) {
  const test::TempFolder folder;
  RotatedSample sample;
  const auto sink = open_csv(folder / "out.csv", {}, {.bytes = 1});
  for (int i = 0; i < 2; ++i) sample.write(*sink, i);
  sink->close({});
  EXPECT_EQ(files_in(folder), 2);
  for (int number = 1; number <= 2; ++number) {
    const std::string text = test::bytes_of_file(file_of(folder, "out", number, ".csv"));
    EXPECT_TRUE(text.starts_with("stream,source,")) << text;
    EXPECT_NE(text.find(fmt::format("\n0,source,,{},", number - 1)), std::string::npos) << text;
    EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  }
}

TEST(Rotation, EveryCocoFileIsAList) {
  const test::TempFolder models_folder;
  const test::TempFolder folder;
  const std::vector<Model> models = {test::load_on_cpu(test::write_box_detector(models_folder))};
  RotatedSample sample;
  const auto sink = open_coco(folder / "out.json", models, {}, {.bytes = 150, .keep = 2});
  for (int i = 0; i < 6; ++i) sample.write(*sink, i);
  EXPECT_EQ(json::parse(test::bytes_of_file(file_of(folder, "out", 3, ".json"))).size(), 2U) << "while it is written";
  sink->close({});
  EXPECT_EQ(files_in(folder), 2);
  EXPECT_EQ(json::parse(test::bytes_of_file(file_of(folder, "out", 2, ".json")))[1]["image_id"], 3);
  EXPECT_EQ(json::parse(test::bytes_of_file(file_of(folder, "out", 3, ".json")))[0]["image_id"], 4);
}

/// The timestamps of the frames of a video, in milliseconds.
std::vector<std::int64_t> times_of(const std::string& path) {
  FramePool pool(2);
  const auto reader = open_reader(path);
  std::vector<std::int64_t> times;
  while (auto frame = reader->read(pool)) times.push_back(frame->timestamp_ns / 1'000'000);
  return times;
}

/// A source of 25 frames per second.
class TimedSource final : public CustomSource {
 public:
  explicit TimedSource(bool live) { info_.live = live; }
  const SourceInfo& info() const override { return info_; }
  Outcome<CapturedFrame> read(FrameTarget& /*target*/) override { return Failure{Status::kEnd, {}}; }
  void cancel() noexcept override {}

 private:
  SourceInfo info_{.name = "timed", .frame_rate = 25};
};

std::vector<Source> timed_source(bool live = false) { return {Source::from(std::make_unique<TimedSource>(live))}; }

TEST(Rotation, EveryVideoIsWholeAndStartsAtZero) {
  for (const std::string ending : {".mp4", ".mkv", ".avi"}) {
    const test::TempFolder folder;
    const std::vector<Source> sources = timed_source();
    RotatedSample sample;
    const auto sink = open_video(folder / ("out" + ending), sources, {.period = milliseconds(100)});
    for (int i = 0; i < 7; ++i) sample.write(*sink, i);
    sink->close({});
    EXPECT_EQ(files_in(folder), 3);
    EXPECT_EQ(times_of(file_of(folder, "out", 1, ending)), (std::vector<std::int64_t>{0, 40, 80})) << ending;
    EXPECT_EQ(times_of(file_of(folder, "out", 2, ending)), (std::vector<std::int64_t>{0, 40, 80})) << ending;
    EXPECT_EQ(times_of(file_of(folder, "out", 3, ending)), (std::vector<std::int64_t>{0})) << ending;
  }
}

/// The size is that of encoded frames, which come a few frames late.
TEST(Rotation, AVideoEndsOnceItHasItsSize) {
  const test::TempFolder folder;
  const std::vector<Source> sources = {test::scripted_source("a", {}), test::scripted_source("b", {})};
  RotatedSample sample;
  const auto sink = open_video(folder / "out.mp4", sources, {.bytes = 1});
  constexpr int kFrames = 60;
  for (int i = 0; i < 2 * kFrames; ++i) {
    sample.result.stream = i % 2;
    sample.write(*sink, i / 2);
  }
  sink->close({});
  for (const char* name : {"out", "out-1"}) {
    std::size_t frames = 0;
    int number = 1;
    for (; std::filesystem::exists(file_of(folder, name, number, ".mp4")); ++number)
      frames += times_of(file_of(folder, name, number, ".mp4")).size();
    EXPECT_EQ(frames, kFrames) << name;
    EXPECT_GT(number, 2) << name;
  }
}

TEST(Rotation, AFurtherVideoFileMayHaveAnotherSize) {
  const test::TempFolder folder;
  const std::vector<Source> sources = timed_source();
  RotatedSample sample;
  const auto sink = open_video(folder / "out.mp4", sources, {.period = milliseconds(40)});
  sample.write(*sink, 0);
  sample.frame = view_of(RgbView{sample.pixels.data(), 3 * 64, 32, 16});
  sample.write(*sink, 1);
  sink->close({});
  EXPECT_EQ(times_of(file_of(folder, "out", 2, ".mp4")).size(), 1U);
}

TEST(Rotation, AnotherSizeBeginsAFurtherVideoFile) {
  const test::TempFolder folder;
  const std::vector<Source> sources = timed_source(true);
  RotatedSample sample;
  const auto sink = open_video(folder / "out.mp4", sources, {.bytes = 1 << 30});
  for (int i = 0; i < 2; ++i) sample.write(*sink, i);
  sample.frame = view_of(RgbView{sample.pixels.data(), 3 * 64, 32, 16});
  for (int i = 2; i < 5; ++i) sample.write(*sink, i);
  sink->close({});
  EXPECT_EQ(times_of(file_of(folder, "out", 1, ".mp4")), (std::vector<std::int64_t>{0, 40}));
  EXPECT_EQ(times_of(file_of(folder, "out", 2, ".mp4")), (std::vector<std::int64_t>{0, 40, 80}));
}

/// The clock of a camera's frames has counted since the machine's start.
TEST(Rotation, AVideoOfACameraStartsWithItsFirstFrame) {
  for (const std::string ending : {".mp4", ".mkv", ".avi"}) {
    const test::TempFolder folder;
    const std::vector<Source> sources = timed_source(true);
    RotatedSample sample;
    const auto sink = open_video(folder / ("out" + ending), sources);
    for (int i = 0; i < 4; ++i) sample.write(*sink, i);
    sink->close({});
    EXPECT_EQ(times_of(folder / ("out" + ending)), (std::vector<std::int64_t>{0, 40, 80, 120})) << ending;
  }
}

TEST(Rotation, AVideoWhoseFolderIsAwayGoesOnInTheNextFile) {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder / "disk");
  const std::vector<Source> sources = timed_source();
  RotatedSample sample;
  const auto sink = open_video(folder / "disk/out.mp4", sources, {.period = milliseconds(40)});
  sample.write(*sink, 0);
  sample.write(*sink, 1);  // a frame is written once the next one has begun
  std::filesystem::rename(folder / "disk", folder / "away");
  EXPECT_THROW(sample.write(*sink, 2), Error);
  std::filesystem::rename(folder / "away", folder / "disk");
  sample.write(*sink, 3);
  sample.write(*sink, 4);
  sink->close({});
  EXPECT_GE(files_in(folder), 1);
  EXPECT_EQ(times_of(folder / "disk/out-000002.mp4").size(), 1U);
}

}  // namespace
}  // namespace saccade
