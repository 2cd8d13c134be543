#pragma once

#include <cstdint>
#include <string_view>

namespace saccade {

/// How the detections of one object in several tiles become one.
enum class TileMerge : std::uint8_t {
  kNmm,  ///< greedy non-maximum merging: the union of their boxes and masks
  kNms,  ///< greedy non-maximum suppression: the most confident one
};
/// The method of that NAME: "nmm" or "nms". Throws Error (kInvalidArgument).
TileMerge parse_tile_merge(std::string_view name);
std::string_view to_string(TileMerge merge) noexcept;

/// Square tiles of a frame, each of which a model processes as an image of its own, as in SAHI (Akyon, Altinuc,
/// Temizel: "Slicing Aided Hyper Inference and Fine-Tuning for Small Object Detection", 2022).
struct TileOptions {
  int size = 640;          ///< side of a tile in frame pixels, 32 to 16384
  float overlap = 0.2F;    ///< of neighbouring tiles, as a share of their side, 0 to 0.9
  bool full_frame = true;  ///< the whole frame is one more tile, for objects larger than a tile
  TileMerge merge = TileMerge::kNmm;
};
/// Throws Error (kInvalidArgument) for a size or an overlap beyond these ranges.
void check_tiles(const TileOptions& options);

}  // namespace saccade
