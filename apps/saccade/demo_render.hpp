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
};

/// Writes pictures and instances.json, their truth in COCO's format; returns how many pictures. Throws Error.
std::int64_t render_frames(const RenderRequest& request);

}  // namespace saccade::app
