#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace saccade {

/// An image of a data set.
struct DataImage {
  std::string file;     ///< path
  std::int64_t id = 0;  ///< ID in the data set
  int width = 0;        ///< declared by the data set; 0: unknown
  int height = 0;
  std::string said_by;    ///< the annotation file that declares the size
  int sequence = 0;       ///< the video that it is a frame of
  double frame_rate = 0;  ///< of that video; 0: it is none
};

/// The images directly in FOLDER, by name; empty if it does not exist. Throws Error (kIo) if it cannot be read.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& folder);

/// Throws Error (kNotFound) with the first missing file and the number of missing files; WHO lists them.
void check_all_there(std::span<const DataImage> images, const std::string& who);

/// COUNT of SIZE indices, spread evenly; all of them if COUNT is 0 or exceeds SIZE.
std::vector<std::size_t> spread(std::size_t size, std::size_t count);

}  // namespace saccade
