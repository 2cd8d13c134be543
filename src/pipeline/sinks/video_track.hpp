#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "media/frame_reader.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "pipeline/sinks/skipped_images.hpp"

namespace saccade {

/// The video of one source's frames with the results drawn.
class VideoTrack {
 public:
  /// FRAME_RATE 0: 25, as for images in video tools. Throws Error as open_video_writer() does.
  VideoTrack(std::string path, double frame_rate);

  void add(const Result& result, const FrameView& frame) { drawn_.add(result, frame); }
  /// Throws Error (kIo), and (kUnsupported) if frames were skipped.
  void close();

 private:
  void write(const DrawnFrame& drawn);

  std::string path_;
  double rate_;
  bool is_timed_;  ///< frames have presentation times
  int width_ = 0;
  int height_ = 0;
  std::int64_t written_ = 0;
  std::unique_ptr<VideoWriter> writer_;
  SkippedImages skipped_;
  DrawnFrame drawn_;
};

}  // namespace saccade
