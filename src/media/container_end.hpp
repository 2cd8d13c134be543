#pragma once

#include <string>

namespace saccade {

/// What a video file's own structure says of its end.
struct ContainerEnd {
  bool is_whole = false;  ///< the file says how long it is, and is
  std::string cut;        ///< why the file must be longer than it is; empty where nothing in it says so
};

/// Looks at how the file's parts (Matroska's elements, MP4's boxes, AVI's chunks, MPEG-TS' packets, FLV's tags, ASF's
/// objects, YUV4MPEG2's frames, raw MJPEG's images) lie one behind the other. Of other formats nothing is known. Where
/// a part's length is not written, as in live streams, a file that ends between two parts can't be told from a whole
/// one.
ContainerEnd container_end(const std::string& path);

}  // namespace saccade
