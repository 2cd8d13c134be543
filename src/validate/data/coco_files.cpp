#include "validate/data/coco_files.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace saccade {
namespace fs = std::filesystem;
namespace {

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// The part between PREFIX and ".json" in the names of FOLDER's files; those with "val" first.
std::vector<std::string> names_after(const fs::path& folder, const std::string& prefix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string stem = entry->path().stem().string();
    if (entry->path().extension() == ".json" && stem.starts_with(prefix)) names.push_back(stem.substr(prefix.size()));
  }
  std::ranges::sort(names);
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name.find("val") != std::string::npos; });
  return names;
}

CocoFiles official(const fs::path& folder) {
  const fs::path annotations = folder / "annotations";
  std::vector<std::string> names = names_after(annotations, "instances_");
  const bool has_instances = !names.empty();
  if (!has_instances) names = names_after(annotations, "person_keypoints_");
  if (names.empty())
    fail(ErrorCode::kNotFound, "'{}' has no COCO annotations: neither instances.json nor annotations/instances_*.json",
         folder.string());
  for (const std::string& name : names) {
    CocoFiles files{.folder = folder, .image_folders = {folder / name, folder / "images" / name, folder / "images"}};
    std::erase_if(files.image_folders, [](const fs::path& path) { return !is_folder(path); });
    if (files.image_folders.empty()) continue;
    if (has_instances) files.instances = annotations / ("instances_" + name + ".json");
    files.keypoints = annotations / ("person_keypoints_" + name + ".json");
    if (!has_entry(files.keypoints)) files.keypoints.clear();
    return files;
  }
  fail(ErrorCode::kNotFound, "'{}' has annotations of '{}', but no folder of images: neither '{}' nor '{}'",
       annotations.string(), names.front(), (folder / names.front()).string(), (folder / "images").string());
}

}  // namespace

std::vector<std::string> CocoFiles::annotations() const {
  std::vector<std::string> files;
  for (const fs::path& file : {instances, masks, keypoints})
    if (!file.empty()) files.push_back(file.string());
  return files;
}

CocoFiles find_coco_files(const fs::path& folder) {
  CocoFiles files{.folder = folder,
                  .instances = folder / "instances.json",
                  .masks = folder / "instances_masks.json",
                  .image_folders = {folder / "images", folder}};
  const std::vector<std::string> keypoints = names_after(folder, "person_keypoints");
  if (!keypoints.empty()) files.keypoints = folder / ("person_keypoints" + keypoints.front() + ".json");
  for (fs::path* path : {&files.instances, &files.masks})
    if (!has_entry(*path)) path->clear();
  if (files.instances.empty()) files.instances.swap(files.masks);
  return files.instances.empty() && files.keypoints.empty() ? official(folder) : files;
}

CocoImageFolders::CocoImageFolders(const CocoFiles& files) {
  for (const fs::path& folder : files.image_folders)
    places_.push_back({.folder = folder,
                       .in_folder = Beside(folder / "file"),
                       .in_data = Beside(files.folder / "file"),
                       .name = folder.lexically_relative(files.folder)});
}

fs::path CocoImageFolders::find(const std::string& file_name, const std::string& annotations) const {
  fs::path missing;
  bool is_outside = false;
  for (const Place& place : places_) {
    const bool is_inside = place.in_folder.find(file_name) || place.in_data.find((place.name / file_name).string());
    const fs::path image = place.folder / file_name;
    if (!is_inside) {
      is_outside = is_outside || has_entry(image);
      continue;
    }
    if (has_entry(image)) return image;
    if (missing.empty()) missing = image;
  }
  if (is_outside || missing.empty())
    fail(ErrorCode::kInvalidFile, "'{}' names the image '{}', which is outside the data's folder: refused", annotations,
         file_name);
  return missing;
}

}  // namespace saccade
