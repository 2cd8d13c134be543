#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "metrics/similarity.hpp"

namespace saccade {

/// An object's segmentation; all fields are empty if it has none.
struct Segmentation {
  std::vector<std::vector<double>> polygons;  ///< vertices, x and y alternating
  std::vector<std::int64_t> counts;           ///< COCO's run lengths
  std::string packed_counts;                  ///< the same in pycocotools' compressed form
  int width = 0;                              ///< image width of the run lengths; 0: unknown
  int height = 0;

  bool empty() const { return polygons.empty() && counts.empty() && packed_counts.empty(); }
};

struct CocoObject {
  std::int64_t id = 0;
  std::size_t category = 0;  ///< index of its category
  CocoBox box;
  double area = 0;
  bool crowd = false;
  Segmentation segmentation;
  std::vector<CocoPoint> keypoints;
  bool has_keypoints = false;  ///< any keypoint is labelled, by num_keypoints if present
};

struct CocoImage {
  std::int64_t id = 0;
  std::string file_name;
  int width = 0;  ///< pixels; 0: unknown
  int height = 0;
  std::vector<CocoObject> objects;
};

struct CocoCategory {
  std::int64_t id = 0;
  std::string name;
};

/// The contents of a COCO annotation file.
struct CocoAnnotations {
  std::string path;
  std::vector<CocoCategory> categories;
  std::vector<CocoImage> images;  ///< in ascending order of ID
  bool has_masks = false;         ///< any object has one
  std::size_t keypoints = 0;      ///< per object; 0: no object has any
  std::size_t repeated_ids = 0;   ///< objects that share their ID with another one
};

/// Throws Error (kIo, kInvalidFile) with the file and the invalid entry: not JSON, a missing or mistyped
/// field, a duplicate ID, an object of an image or category that does not exist, no images, no objects.
CocoAnnotations read_coco_annotations(const std::filesystem::path& path);

/// OBJECT's pixels in an image of WIDTH x HEIGHT. Throws Error (kInvalidFile), also where run lengths are of another
/// size.
std::vector<MaskRun> mask_of(const Segmentation& segmentation, int width, int height);

}  // namespace saccade
