#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "saccade/results.hpp"
#include "saccade/tensor.hpp"
#include "vision/map_rows.hpp"

namespace saccade {

/// Saves the maps of results, each of the frame's size. Keeps its memory between them.
class MapFiles {
 public:
  /// Float32 [height, width]; NaN where the model did not look. Throws Error (kIo) naming the file.
  void save(const std::filesystem::path& npy, const DepthMap& map, int width, int height);
  /// 8 bits per pixel, grey: the class id, 255 where the model did not look. Throws Error (kIo), and (kUnsupported)
  /// where the map has an id above 254.
  void save(const std::filesystem::path& png, const ClassMap& map, int width, int height);

 private:
  MapRows rows_;
  Tensor depth_;
  std::vector<std::int32_t> ids_;  ///< of a row
  std::vector<std::uint8_t> grey_;
};

}  // namespace saccade
