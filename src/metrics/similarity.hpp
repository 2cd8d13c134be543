#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// What a prediction and an object are compared by.
enum class Similarity : std::uint8_t {
  kBox,        ///< the share of the union that two boxes have in common
  kMask,       ///< the same of two masks
  kKeypoints,  ///< COCO's object keypoint similarity
};
/// "box", "mask", "keypoints"
std::string_view to_string(Similarity by);

/// A box as COCO has it, in pixels. Doubles, because COCO's definition is computed in them.
struct CocoBox {
  double x = 0;  ///< left
  double y = 0;  ///< top
  double width = 0;
  double height = 0;
};

/// A joint as COCO has it.
struct CocoPoint {
  double x = 0;
  double y = 0;
  bool counts = true;  ///< of an object: whoever annotated it knew where it is
};

/// What is in an image.
struct TrueObject {
  CocoBox box;
  int class_id = 0;
  double area = 0;       ///< pixels, of its mask where one is known
  bool crowd = false;    ///< neither found nor missed: answers that lie in it do not count
  bool ignored = false;  ///< neither found nor missed, but one answer at most may take it
  std::vector<MaskRun> mask{};
  std::vector<CocoPoint> keypoints{};
};

/// What a model says is in an image.
struct FoundObject {
  CocoBox box;
  int class_id = 0;
  double score = 0;
  std::vector<MaskRun> mask{};
  std::vector<CocoPoint> keypoints{};
};

/// The share of the union that two boxes have in common; where B is a crowd, of A alone. 0 for boxes that do not meet.
double overlap(const CocoBox& a, const CocoBox& b, bool crowd);

/// Pixels of a mask.
std::int64_t area_of(std::span<const MaskRun> mask);

/// The same share of two masks' pixels. Runs in ascending order of y, then x, as a Mask has them.
double overlap(std::span<const MaskRun> a, std::span<const MaskRun> b, bool crowd);

/// How far each joint may lie off, as a share of the object's size: COCO's for its 17 joints of a person; for any other
/// number N, 1 / N each, as Ultralytics has it.
std::vector<double> keypoint_sigmas(std::size_t count);

/// COCO's object keypoint similarity: the mean of exp(-d^2 / (2 area (2 sigma)^2)) over the joints that count, d being
/// their distances. Where none does, distances are those to the object's box grown by its own size on every side. FOUND
/// and TRUTH have a joint a sigma.
double keypoint_similarity(std::span<const CocoPoint> found, const TrueObject& truth, std::span<const double> sigmas);

}  // namespace saccade
