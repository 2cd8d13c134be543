#pragma once

#include <string>

namespace saccade {

/// What the structure of a video file says about its end.
struct ContainerEnd {
  bool is_whole = false;  ///< the file has the length that it declares
  std::string cut;        ///< evidence that the file is truncated; empty if there is none
};

/// Walks the parts of a file (Matroska's elements, MP4's boxes, AVI's chunks, MPEG-TS packets, FLV's tags, ASF's
/// objects, YUV4MPEG2's frames, Motion JPEG's images). Nothing is known of other formats. If the length of a part is
/// not declared, as in live streams, a file that ends between two parts cannot be told from a complete one.
ContainerEnd container_end(const std::string& path);

}  // namespace saccade
