#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace saccade {

/// An image of a data set.
struct DataPicture {
  std::string file;     ///< path
  std::int64_t id = 0;  ///< as the data set numbers it
  int width = 0;        ///< as the data set says; 0: it does not
  int height = 0;
  std::string said_by;  ///< who says so: an annotation file
};

/// The images directly in FOLDER, by name; none where it does not exist. Throws Error (kIo) where it can't be read.
std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder);

/// Throws Error (kNotFound) naming the first of those files that are missing, and how many are; WHO names them.
void check_all_there(std::span<const DataPicture> pictures, const std::string& who);

/// COUNT of SIZE places, spread evenly; all of them where COUNT is 0 or more than there are.
std::vector<std::size_t> spread(std::size_t size, std::size_t count);

}  // namespace saccade
