// The line that `run` prints for a frame.
#include "frame_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "reading_order.hpp"
#include "text_width.hpp"

namespace saccade::app {
namespace {

Result image_result() {
  Result result;
  result.source = "folder/bus.jpg";
  result.name = "bus.jpg";
  result.model = "yolo";
  result.width = 100;
  result.height = 50;
  return result;
}

TEST(FrameLine, CountsObjectsInTheOrderOfTheirClasses) {
  Result result = image_result();
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: no objects");
  const std::vector<float> embedding(512);
  result.embedding = embedding;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: embedding of 512 values");
  result.embedding = {};
  result.task = Task::kText;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: no text");
  result.text = "A\nB";
  result.text_confidence = 0.976F;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: \"A\\nB\" 0.98");
  result.text = {};
  result.task = Task::kDetect;
  for (const auto& [id, name] : {std::pair{5, "bus"}, {0, "person"}, {0, "person"}}) {
    Detection object;
    object.class_id = id;
    object.class_name = name;
    result.detections.push_back(object);
  }
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: 2 persons, 1 bus");
  EXPECT_EQ(frame_line(result, 2), "bus.jpg yolo: 2 persons, 1 bus");
  result.name = {};
  result.source = "videos/street.mp4";
  result.frame = 12;
  result.faults.add(Fault::kNanBox);
  EXPECT_EQ(frame_line(result, 1), "street.mp4 frame 12: 2 persons, 1 bus (invalid)");
}

TEST(FrameLine, NamesClassesSegmentsDepthAndImages) {
  Result result = image_result();
  result.task = Task::kClassify;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: no class");
  for (const auto& [name, confidence] : {std::pair{"minibus", 0.574F}, {"tram", 0.2F}, {"car", 0.1F}, {"cat", 0.01F}})
    result.classes.push_back({0, name, confidence});
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: minibus 0.57, tram 0.20, car 0.10");
  result.classes = {{2, "2", 0.9F}};
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: class 2 0.90");
  result.classes.clear();
  result.task = Task::kSemantic;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: no segments");
  result.segments = {{0, "road", 4000}, {1, "a\nb", 50}};
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: road 80 %, a\\nb 1 %");
  result.segments.clear();
  const float cell = 0;
  result.depth = {.kind = DepthKind::kMetric, .cells = {&cell, 1}, .min = 0.5F, .max = 20, .mean = 3.25F};
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: metric depth min 0.5 m, mean 3.25 m, max 20 m");
  result.depth.mean = NAN;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: no depth");
}

/// An object of a detector of text, with its centre at (X, Y).
Detection text_at(float x, float y, std::string_view text, float angle = 0) {
  Detection object;
  object.class_name = "text";
  object.oriented = OrientedBox{x, y, 100, 20, angle};
  object.text = text;
  return object;
}

using Texts = std::vector<std::string_view>;

TEST(FrameLine, CountsTheClassesOfTheSecondModel) {
  const std::vector<Classification> beagle = {{0, "beagle", 0.9F}, {1, "pug", 0.1F}};
  const std::vector<Classification> pug = {{1, "pug", 0.8F}};
  Result result = image_result();
  for (const auto& classes : {pug, beagle, beagle}) {
    Detection object{.class_id = 16, .class_name = "dog"};
    object.classes = classes.size() == 1 ? std::span(pug) : std::span(beagle);
    result.detections.push_back(object);
  }
  result.detections.push_back({.class_id = 16, .class_name = "dog"});
  result.detections.push_back({.class_id = 17, .class_name = "horse"});
  result.uncropped = 1;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: 4 dogs (2 beagles, 1 pug), 1 horse, 1 not cropped");
  const std::vector<Classification> others = {{2, "a\nb", 1}, {3, "husky", 1}, {4, "boxer", 1}, {5, "7", 1}};
  for (const Classification& other : others)
    result.detections.push_back({.class_id = 16, .class_name = "dog", .classes = {&other, 1}});
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: 8 dogs (2 beagles, 1 pug, 1 a\\nb, 3 others), 1 horse, 1 not cropped");
}

TEST(FrameLine, HasTheTextsOfObjects) {
  Result result = image_result();
  result.detections = {text_at(300, 100, "three"), text_at(100, 20, "one\n"), text_at(100, 104, "two")};
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: 3 texts: \"one\\n\", \"two\", \"three\"");
  result.detections.push_back(text_at(0, 0, ""));
  result.detections.push_back({.class_id = 1, .class_name = "plate"});
  result.faults.add(Fault::kConfidenceRange);
  EXPECT_EQ(frame_line(result, 2), "bus.jpg yolo: 4 texts, 1 plate: \"one\\n\", \"two\", \"three\" (invalid)");
}

TEST(FrameLine, ShortensTextsToEightyColumns) {
  Result result = image_result();
  const std::string_view text = "a line of 24 characters.";
  for (int i = 0; i < 3; ++i) result.detections.push_back(text_at(0, 30.0F * static_cast<float>(i), text));
  const std::string two = "bus.jpg: 3 texts: \"a line of 24 characters.\", \"a line of 24 characters.\"";
  EXPECT_EQ(frame_line(result, 1), two + ", ...");
  result.detections.resize(2);
  result.detections[1].text = "a line of 30 characters, which";
  EXPECT_EQ(frame_line(result, 1),
            "bus.jpg: 2 texts: \"a line of 24 characters.\", \"a line of 30 characters, which\"");
  result.faults.add(Fault::kConfidenceRange);
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: 2 texts: \"a line of 24 characters.\", ... (invalid)");
  result.faults = {};
  const std::string endless(200, 'x');
  result.detections[0].text = endless;
  EXPECT_EQ(frame_line(result, 1), "bus.jpg: 2 texts: \"" + std::string(52, 'x') + "...\", ...");
  EXPECT_EQ(frame_line(result, 1).size(), 80U);
  result.name = endless;
  EXPECT_EQ(frame_line(result, 1), endless + ": 2 texts: \"" + std::string(14, 'x') + "...\", ...");
}

TEST(FrameLine, CountsColumnsOfWideCharacters) {
  EXPECT_EQ(text_width("a\u00e9\u4f60\uff01\U0001F600"), 8U);
  EXPECT_EQ(cut_to_width("\u4f60\u597d!", 3), "\u4f60");
  EXPECT_EQ(cut_to_width("\u4f60\u597d!", 5), "\u4f60\u597d!");
  Result result = image_result();
  std::string text;
  for (int i = 0; i < 60; ++i) text += "\u597d";
  result.name = "page.jpg";
  result.detections = {text_at(0, 0, text)};
  EXPECT_EQ(text_width(frame_line(result, 1)), 79U) << "half of a character does not fit";
}

TEST(ReadingOrder, IsByRowsOfTheRotatedPage) {
  for (const float angle : {0.0F, 0.3F, -0.6F}) {
    SCOPED_TRACE(angle);
    Result result;
    const auto add = [&](float x, float y, std::string_view text) {
      result.detections.push_back(
          text_at(x * std::cos(angle) - y * std::sin(angle), x * std::sin(angle) + y * std::cos(angle), text, angle));
    };
    add(500, 37, "d");
    add(500, 6, "b");
    add(100, 30, "c");
    add(100, 0, "a");
    add(50, 60, "e");
    EXPECT_EQ(texts_in_reading_order(result), (Texts{"a", "b", "c", "d", "e"}));
  }
}

TEST(ReadingOrder, TakesBoxesWithoutAngleAndInvalidOnes) {
  Result result;
  for (const auto& [top, text] : {std::pair{40.0F, "second"}, {10.0F, "first"}, {NAN, "nowhere"}})
    result.detections.push_back({.box = {0, top, 50, top + 20}, .text = text});
  EXPECT_EQ(texts_in_reading_order(result), (Texts{"nowhere", "first", "second"}));
  result.detections[2].oriented = OrientedBox{NAN, NAN, NAN, NAN, NAN};
  EXPECT_EQ(texts_in_reading_order(result).size(), 3U);
}

}  // namespace
}  // namespace saccade::app
