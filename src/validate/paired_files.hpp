#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "validate/picture.hpp"

namespace saccade {

/// Pictures, and a file of the same name, but for its ending, that says what is in each.
struct PairedFiles {
  std::vector<DataPicture> pictures;  ///< by name
  std::vector<std::filesystem::path> truth;
};

/// Pairs the pictures in FOLDER/images, where that is missing those in FOLDER, with FOLDER/TRUTH, in which files end in
/// one of ENDINGS. Throws Error (kNotFound) naming the folder, the picture or the file that is missing, and
/// (kInvalidFile) where two files say what is in one picture.
PairedFiles find_pairs(const std::filesystem::path& folder, const std::string& truth,
                       const std::vector<std::string>& endings);

}  // namespace saccade
