#pragma once

#include <cstdint>
#include <string>

namespace saccade::app {

/// Frames of a scene as a data set.
struct RenderRequest {
  std::string source = "synthetic:";  ///< a scene's URI
  std::int64_t frames = 0;
  std::string output;          ///< a folder, made where it is missing
  std::string format = "png";  ///< or jpg
  int depth_step = 0;          ///< pixels a side of the squares that depth is written for; 0: it is not
};

/// Writes pictures and instances.json, their truth in COCO's format, and depth/NAME.npy where that is asked for;
/// returns how many pictures. Throws Error.
std::int64_t render_frames(const RenderRequest& request);

}  // namespace saccade::app
