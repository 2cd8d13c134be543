#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include "saccade/results.hpp"

namespace saccade {
namespace {

/// A result and all that it refers to.
struct OwnedResult {
  std::string names = "camera image model person street coat";
  std::vector<Keypoint> keypoints = {{1, 2, 0.5F}, {3, 4, 0.25F}, {5, 6, 1}};
  std::vector<MaskRun> runs = {{0, 1, 2}, {1, 1, 3}, {7, 0, 4}};
  std::vector<std::int32_t> classes = {0, 1, -1, 2};
  std::vector<float> depths = {1, 2, 3, 4};
  std::vector<float> embedding = {0.6F, 0.8F};
  std::vector<float> vectors = {1, 2, 3, 4};
  std::vector<Classification> object_classes;
  std::vector<ZonePoint> zone_points = {{1, 2}, {3, 4}, {5, 6}};
  std::vector<ZoneState> zones;
  std::vector<ZoneEvent> zone_events;
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(64 * 2, 9);  // two rows of 64 bytes
  Result result;

  OwnedResult() {
    const std::string_view text = names;
    result.source = text.substr(0, 6);
    result.name = text.substr(7, 5);
    result.model = text.substr(13, 5);
    result.frame = 12;
    const std::span<const Keypoint> points = keypoints;
    const std::span<const MaskRun> all = runs;
    result.detections.push_back({.class_id = 1, .class_name = text.substr(19, 6), .keypoints = points.first(2)});
    result.detections.push_back({.class_id = 2, .class_name = text.substr(26, 6), .keypoints = points.last(1)});
    object_classes = {{4, text.substr(33), 0.5F}, {5, text.substr(19, 6), 0.25F}};
    for (std::size_t i = 0; i < 2; ++i) {
      result.detections[i].embedding = std::span<const float>(vectors).subspan(2 * i, 2);
      result.detections[i].classes = std::span<const Classification>(object_classes).subspan(i, 1);
    }
    result.detections[0].mask = Mask{all.first(2), 3};
    result.detections[1].mask = Mask{all.last(1), 4};
    result.classes.push_back({3, text.substr(26, 6), 0.5F});
    result.segments.push_back({3, text.substr(26, 6), 17});
    result.class_map = {{.columns = 2, .rows = 2}, classes};
    result.depth = {{.columns = 2, .rows = 2}, DepthKind::kMetric, depths};
    result.embedding = embedding;
    const std::span<const ZonePoint> corners = zone_points;
    zones = {{.name = text.substr(0, 6), .points = corners.first(1), .in = 3},
             {.name = text.substr(7, 5), .kind = ZoneKind::kArea, .points = corners.last(2), .inside = 4}};
    zone_events = {{.zone = text.substr(7, 5), .kind = ZoneEventKind::kEnter, .class_name = text.substr(26, 6)}};
    result.zones = zones;
    result.zone_events = zone_events;
    result.text = text.substr(19, 6);
    result.image = {.width = 3, .height = 2, .planes = {pixels.data()}, .pitch_bytes = {64}};
  }

  void overwrite() {
    std::ranges::fill(names, '?');
    std::ranges::fill(keypoints, Keypoint{});
    std::ranges::fill(runs, MaskRun{});
    std::ranges::fill(classes, 99);
    std::ranges::fill(depths, 99.0F);
    std::ranges::fill(embedding, 99.0F);
    std::ranges::fill(vectors, 99.0F);
    std::ranges::fill(object_classes, Classification{});
    std::ranges::fill(zone_points, ZonePoint{});
    std::ranges::fill(zones, ZoneState{});
    std::ranges::fill(zone_events, ZoneEvent{});
    std::ranges::fill(pixels, 77);
  }
};

void expect_whole(const Result& result) {
  EXPECT_EQ(result.source, "camera");
  EXPECT_EQ(result.name, "image");
  EXPECT_EQ(result.model, "model");
  EXPECT_EQ(result.frame, 12);
  ASSERT_EQ(result.detections.size(), 2U);
  const Detection& first = result.detections[0];
  const Detection& second = result.detections[1];
  EXPECT_EQ(first.class_name, "person");
  EXPECT_EQ(second.class_name, "street");
  ASSERT_EQ(first.keypoints.size(), 2U);
  EXPECT_EQ(first.keypoints[1].y, 4);
  ASSERT_EQ(second.keypoints.size(), 1U);
  EXPECT_EQ(second.keypoints[0].x, 5);
  ASSERT_EQ(first.mask->runs.size(), 2U);
  EXPECT_EQ(first.mask->runs[1].x2, 3);
  EXPECT_EQ(second.mask->runs[0].y, 7);
  EXPECT_EQ(second.mask->area, 4);
  ASSERT_EQ(first.embedding.size(), 2U);
  EXPECT_EQ(first.embedding[1], 2);
  ASSERT_EQ(second.embedding.size(), 2U);
  EXPECT_EQ(second.embedding[0], 3);
  ASSERT_EQ(first.classes.size(), 1U);
  EXPECT_EQ(first.classes[0].class_name, "coat");
  ASSERT_EQ(second.classes.size(), 1U);
  EXPECT_EQ(second.classes[0].class_name, "person");
  EXPECT_EQ(result.classes[0].class_name, "street");
  EXPECT_EQ(result.segments[0].class_name, "street");
  ASSERT_EQ(result.class_map.cells.size(), 4U);
  EXPECT_EQ(result.class_map.cells[3], 2);
  ASSERT_EQ(result.depth.cells.size(), 4U);
  EXPECT_EQ(result.depth.cells[0], 1);
  ASSERT_EQ(result.embedding.size(), 2U);
  EXPECT_EQ(result.embedding[1], 0.8F);
  EXPECT_EQ(result.text, "person");
  ASSERT_EQ(result.zones.size(), 2U);
  EXPECT_EQ(result.zones[0].name, "camera");
  EXPECT_EQ(result.zones[0].in, 3);
  EXPECT_EQ(result.zones[1].name, "image");
  EXPECT_EQ(result.zones[1].inside, 4);
  ASSERT_EQ(result.zones[1].points.size(), 2U);
  EXPECT_EQ(result.zones[1].points[0].x, 3);
  ASSERT_EQ(result.zone_events.size(), 1U);
  EXPECT_EQ(result.zone_events[0].zone, "image");
  EXPECT_EQ(result.zone_events[0].kind, ZoneEventKind::kEnter);
  EXPECT_EQ(result.zone_events[0].class_name, "street");
  ASSERT_EQ(result.image.width, 3);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 9; ++x) EXPECT_EQ(result.image.planes[0][y * result.image.pitch_bytes[0] + x], 9);
}

TEST(ResultClone, OwnsAllThatItRefersTo) {
  OwnedResult owned;
  Result clone = owned.result.clone();
  owned.overwrite();
  expect_whole(clone);

  // The copies of a clone share its storage.
  const Result copy = clone;
  clone = Result();
  expect_whole(copy);
}

TEST(ResultClone, KnowsEveryViewInAResult) {
  std::ostringstream text;
  text << std::ifstream(SACCADE_SOURCE "/include/saccade/results.hpp").rdbuf();
  const std::string header = text.str();
  // A field that refers to memory of others: a new one must be cloned, checked above and counted here.
  const std::regex view(R"(\n +(std::span<[^\n]*|std::string_view \w+|FrameView \w+|const \w+\*[^\n]*);)");
  EXPECT_EQ(std::distance(std::sregex_iterator(header.begin(), header.end(), view), std::sregex_iterator()), 18);
}

TEST(ResultClone, OfACloneIsItsOwn) {
  Result second;
  {
    OwnedResult owned;
    const Result first = owned.result.clone();
    second = first.clone();
    EXPECT_NE(first.storage, second.storage);
    EXPECT_NE(first.class_map.cells.data(), second.class_map.cells.data());
  }
  expect_whole(second);
}

TEST(ResultClone, OfAnEmptyResultIsEmpty) {
  const Result clone = Result().clone();
  EXPECT_TRUE(clone.source.empty());
  EXPECT_TRUE(clone.detections.empty());
  EXPECT_TRUE(clone.class_map.cells.empty());
  EXPECT_EQ(clone.image.width, 0);
  EXPECT_EQ(clone.image.planes[0], nullptr);
}

}  // namespace
}  // namespace saccade
