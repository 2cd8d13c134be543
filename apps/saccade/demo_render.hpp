#pragma once

#include <cstdint>
#include <string>

namespace saccade::app {

/// Frames of a scene as a data set.
struct RenderRequest {
  std::string source = "synthetic:";  ///< a scene's URI
  std::int64_t frames = 0;
  std::string output;          ///< output folder, created if missing
  std::string format = "png";  ///< or jpg
  int depth_step = 0;          ///< step of the depth samples in pixels; 0: no depth
  bool is_mot = false;         ///< the layout: MOTChallenge's, not COCO's
};

/// Writes the images, instances.json with their ground truth in COCO's format, and optionally depth/NAME.npy. In
/// MOTChallenge's layout: img1/000001.png, gt/gt.txt, gt/labels.txt as CVAT's, seqinfo.ini. Returns the number of
/// images. Throws Error.
std::int64_t render_frames(const RenderRequest& request);

}  // namespace saccade::app
