#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "saccade/results.hpp"
#include "saccade/tensor.hpp"
#include "vision/map_rows.hpp"

namespace saccade {

/// Saves the maps of results at the frame's size. Reuses its memory.
class MapFiles {
 public:
  /// Float32 [height, width]; NaN outside the model's input. Throws Error (kIo) with the file's name.
  void save(const std::filesystem::path& npy, const DepthMap& map, int width, int height);
  /// 8 bits per pixel, greyscale: the class ID, 255 outside the model's input. Throws Error (kIo), and
  /// (kUnsupported) if the map has an ID above 254.
  void save(const std::filesystem::path& png, const ClassMap& map, int width, int height);

 private:
  MapRows rows_;
  Tensor depth_;
  std::vector<std::int32_t> ids_;  ///< of one row
  std::vector<std::uint8_t> grey_;
};

}  // namespace saccade
