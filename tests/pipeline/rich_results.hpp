#pragma once

#include <vector>

#include "saccade/results.hpp"
#include "tensor/frame.hpp"

namespace saccade::test {

/// A result for a black frame of 8x4 pixels with one of everything, and the data that its spans reference.
struct RichResult {
  RichResult() {
    result.source = "scene";
    result.model = "m";
    result.width = 8;
    result.height = 4;
    Detection object;
    object.box = {1, 0, 5, 3};
    object.class_id = 2;
    object.class_name = "cat";
    object.confidence = 0.5F;
    object.track_id = 12;
    object.keypoints = points;
    object.mask = Mask{runs, 7};
    object.oriented = OrientedBox{3, 2, 2, 4, 0};
    object.embedding = object_vector;
    object.classes = object_classes;
    object.text = "AB 123";
    object.text_confidence = 0.96875F;
    result.detections = {object};
    result.uncropped = 2;
    result.classes = {{1, "indoors", 0.75F}};
    result.segments = {{4, "sky", 20}, {6, "sea, open", 12}};
    result.class_map = {place, ids};
    result.depth = {place, DepthKind::kMetric, depths, 0.5F, 2, 1.25F};
    result.image = view_of(RgbView{image.data(), 3 * 16, 16, 8});
    result.embedding = vector;
    result.text = "=A, \"B\"";  // a spreadsheet's formula
    result.text_confidence = 0.875F;
  }
  RichResult(const RichResult&) = delete;
  RichResult& operator=(const RichResult&) = delete;

  // .##.
  // .###
  // .##.   from column 0 on
  std::vector<MaskRun> runs = {{0, 1, 3}, {1, 1, 4}, {2, 1, 3}};
  std::vector<Keypoint> points = {{1.5F, 1, 0.25F}, {4, 2, 1}};
  GridPlace place = {2, 1, 0.25, 0.25, 0, 0, {0, 0, 8, 3}};  // the last row was not seen by the model
  std::vector<std::int32_t> ids = {4, 6};
  std::vector<float> depths = {0.5F, 2};
  std::vector<float> object_vector = {0.75F, 0.5F};
  std::vector<Classification> object_classes = {{5, "tabby", 0.5F}, {9, "lynx", 0.25F}};
  std::vector<float> vector = {0.5F, -0.25F};
  std::vector<std::uint8_t> image = std::vector<std::uint8_t>(3 * 16 * 8, 200);
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(3 * 8 * 4, 0);
  FrameView frame = view_of(RgbView{pixels.data(), 3 * 8, 8, 4});
  Result result;
};

}  // namespace saccade::test
