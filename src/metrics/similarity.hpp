#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// How predictions and objects are compared.
enum class Similarity : std::uint8_t {
  kBox,        ///< IoU of boxes
  kMask,       ///< IoU of masks
  kKeypoints,  ///< COCO's object keypoint similarity
};
/// "box", "mask", "keypoints"
std::string_view to_string(Similarity by);

/// A box in COCO's format, in pixels. double, as in COCO's definition.
struct CocoBox {
  double x = 0;  ///< left
  double y = 0;  ///< top
  double width = 0;
  double height = 0;
};

/// A joint in COCO's format.
struct CocoPoint {
  double x = 0;
  double y = 0;
  bool counts = true;  ///< of an object: annotated
};

/// A ground-truth object.
struct TrueObject {
  CocoBox box;
  int class_id = 0;
  double area = 0;       ///< pixels, of its mask if one is known
  bool crowd = false;    ///< predictions within it are ignored
  bool ignored = false;  ///< ignored, and at most one prediction may match it
  std::vector<MaskRun> mask{};
  std::vector<CocoPoint> keypoints{};
};

/// A prediction.
struct FoundObject {
  CocoBox box;
  int class_id = 0;
  double score = 0;
  std::vector<MaskRun> mask{};
  std::vector<CocoPoint> keypoints{};
};

/// IoU of two boxes; if B is a crowd, intersection over the area of A. 0 for disjoint boxes.
double overlap(const CocoBox& a, const CocoBox& b, bool crowd);

/// Pixels of a mask.
std::int64_t area_of(std::span<const MaskRun> mask);

/// The same for masks. Runs in ascending order of y, then x, as in Mask.
double overlap(std::span<const MaskRun> a, std::span<const MaskRun> b, bool crowd);

/// The tolerance of each joint relative to the object's size: COCO's for its 17 joints of a person; for any other
/// number N, 1 / N each, as in Ultralytics.
std::vector<double> keypoint_sigmas(std::size_t count);

/// COCO's object keypoint similarity: the mean of exp(-d^2 / (2 area (2 sigma)^2)) over the annotated joints, d being
/// their distances. If none is annotated, d is the distance to the object's box, enlarged by its own size on every
/// side. FOUND and TRUTH have one joint per sigma.
double keypoint_similarity(std::span<const CocoPoint> found, const TrueObject& truth, std::span<const double> sigmas);

}  // namespace saccade
