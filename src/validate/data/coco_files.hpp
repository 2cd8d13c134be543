#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/beside.hpp"

namespace saccade {

/// The files of a COCO data set; a path is empty if the file is missing.
struct CocoFiles {
  std::filesystem::path folder;
  std::filesystem::path instances;
  std::filesystem::path masks;                       ///< of the same images, if `instances` has none
  std::filesystem::path keypoints;                   ///< person_keypoints
  std::vector<std::filesystem::path> image_folders;  ///< folders of images, in order of search

  /// The existing annotation files.
  std::vector<std::string> annotations() const;
};

/// Looks for instances.json, instances_masks.json and person_keypoints*.json in FOLDER, with images in images/ or
/// beside them; else for the official layout: annotations/instances_NAME.json, annotations/person_keypoints_NAME.json
/// and the folder NAME, of several NAMEs val's. Throws Error (kNotFound) saying what is missing.
CocoFiles find_coco_files(const std::filesystem::path& folder);

/// Finds the images that annotations name.
class CocoImageFolders {
 public:
  explicit CocoImageFolders(const CocoFiles& files);

  /// FILE_NAME in the first folder that has it, else in the first. Throws Error (kInvalidFile) naming ANNOTATIONS if
  /// FILE_NAME leads out of the data's folder and of the image folders, which may be links (base/beside.hpp).
  std::filesystem::path find(const std::string& file_name, const std::string& annotations) const;

 private:
  struct Place {
    std::filesystem::path folder;
    Beside in_folder;
    Beside in_data;
    std::filesystem::path name;  ///< of the folder, relative to the data's folder
  };
  std::vector<Place> places_;
};

}  // namespace saccade
