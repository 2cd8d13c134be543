#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// Where a folder of COCO's has what; a path is empty where there is no such file.
struct CocoFiles {
  std::filesystem::path instances;
  std::filesystem::path masks;                         ///< of the same images, where `instances` has none
  std::filesystem::path keypoints;                     ///< person_keypoints
  std::vector<std::filesystem::path> picture_folders;  ///< where to look for an image, in turn

  /// The files of annotations that there are.
  std::vector<std::string> annotations() const;
};

/// Looks for instances.json, instances_masks.json and person_keypoints*.json in FOLDER, with images in images/ or
/// beside them; else for the official layout: annotations/instances_NAME.json, annotations/person_keypoints_NAME.json
/// and the folder NAME, of several NAMEs val's. Throws Error (kNotFound) saying what is missing.
CocoFiles find_coco_files(const std::filesystem::path& folder);

/// FILE_NAME in the first of FOLDERS that has it, else in the first.
std::filesystem::path find_picture(const std::vector<std::filesystem::path>& folders, const std::string& file_name);

}  // namespace saccade
