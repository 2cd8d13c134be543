#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "metrics/similarity.hpp"

namespace saccade {

/// An object's silhouette as an annotation has it; all empty where it has none.
struct Segmentation {
  std::vector<std::vector<double>> polygons;  ///< corners, x and y in turns
  std::vector<std::int64_t> counts;           ///< COCO's run lengths
  std::string packed_counts;                  ///< the same as pycocotools packs them
  int width = 0;                              ///< of the image that run lengths are of; 0: they do not say
  int height = 0;

  bool empty() const { return polygons.empty() && counts.empty() && packed_counts.empty(); }
};

struct CocoObject {
  std::int64_t id = 0;
  std::size_t category = 0;  ///< its place among the categories
  CocoBox box;
  double area = 0;
  bool crowd = false;
  Segmentation segmentation;
  std::vector<CocoPoint> keypoints;
  bool has_keypoints = false;  ///< any of them counts, by num_keypoints where the file has that
};

struct CocoPicture {
  std::int64_t id = 0;
  std::string file_name;
  int width = 0;  ///< pixels; 0: the file does not say
  int height = 0;
  std::vector<CocoObject> objects;
};

struct CocoCategory {
  std::int64_t id = 0;
  std::string name;
};

/// What a file of COCO's annotations says.
struct CocoAnnotations {
  std::string path;
  std::vector<CocoCategory> categories;
  std::vector<CocoPicture> pictures;  ///< in ascending order of id
  bool has_masks = false;             ///< any object has one
  std::size_t keypoints = 0;          ///< of an object that has any; 0: none has
  std::size_t repeated_ids = 0;       ///< objects whose id another one has, too
};

/// Throws Error (kIo, kInvalidFile) naming the file and the entry that is invalid: no JSON, a missing or mistyped
/// field, a number that is used twice, an object of an image or category that does not exist, no images, no objects.
CocoAnnotations read_coco_annotations(const std::filesystem::path& path);

/// OBJECT's pixels in an image of WIDTH x HEIGHT. Throws Error (kInvalidFile), also where run lengths are of another
/// size.
std::vector<MaskRun> mask_of(const Segmentation& segmentation, int width, int height);

}  // namespace saccade
