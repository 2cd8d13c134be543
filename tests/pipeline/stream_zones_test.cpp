#include "pipeline/stream/stream_zones.hpp"

#include <gtest/gtest.h>

#include "saccade/error.hpp"
#include "saccade/pipeline.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::scripted_source;

class StreamZonesTest : public testing::Test {
 protected:
  Zone door(const std::string& name = "door") const {
    return {.name = name, .points = {{0, 4}, {16, 4}}, .hold = milliseconds(100)};
  }
  std::string error_of(const Zone& zone) {
    try {
      StreamZones({zone}, sources_, models_, seconds(1));
      return "valid";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
  }
  /// A frame of LANE at TIME with an object of track 5 whose lower side is at Y, found by both detectors.
  FrameRunRef run_at(milliseconds time, float y, std::size_t lane = 0) {
    FrameRunRef run = pool_.take();
    run->lane = lane;
    run->done = 2;
    for (std::size_t i = 0; i < 2; ++i) {
      Result& result = run->outputs[i].result;
      result.stream = static_cast<int>(lane);
      result.timestamp_ns = std::chrono::nanoseconds(time).count();
      result.width = 16;
      result.height = 8;
      Detection object;
      object.box = {2, 0, 6, y};
      object.class_name = "near";
      object.track_id = 5;
      result.detections = {object};
    }
    return run;
  }

  test::TempFolder folder_;
  std::vector<Source> sources_ = {scripted_source("a.mp4", test::frames(1)), scripted_source("b.mp4", test::frames(1))};
  std::vector<Model> models_ = {
      test::load_on_cpu(test::write_box_detector(folder_), {.post = {.tracker = TrackerOptions()}}),
      test::load_on_cpu(test::write_color_classifier(folder_))};
  FrameRunPool pool_{4, 2};
};

TEST_F(StreamZonesTest, AreOfAStreamAndTheModelsThatTrackObjects) {
  Zone second = door("second");
  second.source = "b.mp4";
  Zone by_index = door("by index");
  by_index.stream = 1;
  StreamZones zones({door(), second, by_index}, sources_, models_, seconds(1));
  std::string seen;
  for (const ZoneSummary& each : zones.summaries())
    seen += fmt::format("{} {} {}\n", each.name, each.stream, each.model);
  EXPECT_EQ(seen, "door 0 0\ndoor 1 0\nsecond 1 0\nby index 1 0\n");
}

TEST_F(StreamZonesTest, TheSourceIsWrittenAsItIsGiven) {
  sources_.push_back(scripted_source("rtsp://admin:***@host/a", test::frames(1)));
  Zone zone = door();
  for (const char* source : {"rtsp://admin:secret@host/a#timeout=1s", "rtsp://admin:***@host/a"}) {
    zone.source = source;
    EXPECT_EQ(error_of(zone), "valid") << source;
  }
  zone.source = "rtsp://admin:secret@other/a";
  EXPECT_EQ(error_of(zone).find("secret"), std::string::npos);
  EXPECT_NE(error_of(zone).find("'rtsp://admin:***@other/a'"), std::string::npos);
}

TEST_F(StreamZonesTest, ResultsHaveTheirZonesAndEvents) {
  StreamZones zones({door()}, sources_, models_, seconds(1));
  zones.update(*run_at(milliseconds(0), 6));
  zones.update(*run_at(milliseconds(100), 2));
  zones.update(*run_at(milliseconds(100), 6, 1));  // another stream
  const FrameRunRef run = run_at(milliseconds(200), 2);
  zones.update(*run);
  // What a result has is its own.
  zones.update(*run_at(milliseconds(300), 2));
  const Result& result = run->outputs[0].result;
  ASSERT_EQ(result.zone_events.size(), 1U);
  EXPECT_EQ(result.zone_events[0].zone, "door");
  EXPECT_EQ(result.zone_events[0].track_id, 5);
  EXPECT_EQ(result.zone_events[0].class_name, "near");
  EXPECT_EQ(result.zone_events[0].since_ns, 100'000'000);
  ASSERT_EQ(result.zones.size(), 1U);
  EXPECT_EQ(result.zones[0].in, 1);
  ASSERT_EQ(result.zones[0].points.size(), 2U);
  EXPECT_EQ(result.zones[0].points[1].x, 16);
  EXPECT_TRUE(run->outputs[1].result.zones.empty()) << "a classifier";
  EXPECT_EQ(zones.summaries()[0].in, 1);
  EXPECT_EQ(zones.summaries()[1].in, 0);
}

TEST_F(StreamZonesTest, ErrorsSayWhatThereIs) {
  EXPECT_EQ(error_of(door()), "valid");
  Zone zone = door();
  zone.source = "c.mp4";
  EXPECT_EQ(error_of(zone),
            "the line 'door' is for the source 'c.mp4', but the sources are a.mp4 (0), b.mp4 (1): name one of them, or "
            "give its index");
  zone = door();
  zone.stream = 2;
  EXPECT_EQ(
      error_of(zone),
      "the line 'door' is for the source 2, but the sources are a.mp4 (0), b.mp4 (1): name one of them, or give its "
      "index");
  zone = door();
  zone.classes = {"near", "nearer"};
  EXPECT_EQ(error_of(zone), "the line 'door' counts the class 'nearer', but the classes are near, far");
  zone = door();
  zone.model = "color";
  EXPECT_EQ(error_of(zone), "the line 'door' is for the model 'color', but the models that track objects are boxes");
  zone.model = "boxes";
  EXPECT_EQ(error_of(zone), "valid");
  models_.erase(models_.begin());
  EXPECT_EQ(error_of(door()),
            "the line 'door' counts tracked objects, but no model tracks any: run a detector with --track");
}

TEST_F(StreamZonesTest, APipelineHasThem) {
  Zone zone = door();
  zone.points = {{0, 4}, {4, 4}};
  Pipeline pipeline(sources_, models_, {.zones = {zone}});
  int with_zones = 0;
  for (const Result& result : pipeline) with_zones += result.zones.size() == 1 ? 1 : 0;
  EXPECT_EQ(with_zones, 2) << "the detector's, of each source";
  ASSERT_EQ(pipeline.summary().zones.size(), 2U);
  EXPECT_EQ(pipeline.telemetry().zones.size(), 2U);
  zone.source = "c.mp4";
  EXPECT_THROW(Pipeline({scripted_source("d", test::frames(1))}, models_, {.zones = {zone}}), Error);
}

}  // namespace
}  // namespace saccade
