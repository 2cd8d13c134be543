#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/file_series.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "pipeline/sinks/skipped_images.hpp"
#include "saccade/rotation.hpp"
#include "saccade/source.hpp"

namespace saccade {

/// The video of one source's frames with the results drawn.
class VideoTrack {
 public:
  /// Of the frames of SOURCE, at 25 per second if it has no rate, as images in video tools. Throws Error as
  /// open_video_writer() does.
  VideoTrack(std::string path, const SourceInfo& source, const Rotation& rotation = {});

  void add(const Result& result, const FrameView& frame) { drawn_.add(result, frame); }
  /// Throws Error (kIo), and (kUnsupported) if frames were skipped.
  void close();
  /// Results of skipped frames. Any thread.
  std::int64_t failed() const { return skipped_.results(); }

 private:
  void begin();
  void rotate();
  void write(const DrawnFrame& drawn);
  std::int64_t time_of(const DrawnFrame& drawn) const;
  bool is_due(std::int64_t time_ns) const;
  /// Whether the current file starts with its first frame: the clock of a camera has counted since the machine's start.
  bool starts_at_zero() const { return is_live_ || series_.has_value(); }

  std::string path_;  ///< of the current file
  double rate_;
  bool is_timed_;  ///< frames have presentation times
  bool is_live_;
  int width_ = 0;
  int height_ = 0;
  Rotation rotation_;
  std::optional<FileSeries> series_;     ///< nothing: one file
  std::int64_t written_ = 0;             ///< into the current file
  std::int64_t start_ns_ = 0;            ///< the timestamp at which the current file starts
  std::unique_ptr<VideoWriter> writer_;  ///< null: the next file could not be created
  SkippedImages skipped_;
  DrawnFrame drawn_;
};

}  // namespace saccade
