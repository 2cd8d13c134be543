#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// The files of a COCO data set; a path is empty if the file is missing.
struct CocoFiles {
  std::filesystem::path instances;
  std::filesystem::path masks;                         ///< of the same images, if `instances` has none
  std::filesystem::path keypoints;                     ///< person_keypoints
  std::vector<std::filesystem::path> picture_folders;  ///< folders of images, in order of search

  /// The existing annotation files.
  std::vector<std::string> annotations() const;
};

/// Looks for instances.json, instances_masks.json and person_keypoints*.json in FOLDER, with images in images/ or
/// beside them; else for the official layout: annotations/instances_NAME.json, annotations/person_keypoints_NAME.json
/// and the folder NAME, of several NAMEs val's. Throws Error (kNotFound) saying what is missing.
CocoFiles find_coco_files(const std::filesystem::path& folder);

/// FILE_NAME in the first of FOLDERS that has it, else in the first.
std::filesystem::path find_picture(const std::vector<std::filesystem::path>& folders, const std::string& file_name);

}  // namespace saccade
