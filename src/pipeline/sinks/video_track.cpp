#include "pipeline/sinks/video_track.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/module.hpp"
#include "base/output_file.hpp"

namespace saccade {
namespace {

constexpr double kDefaultRate = 25;

}  // namespace

VideoTrack::VideoTrack(std::string path, const SourceInfo& source, const Rotation& rotation)
    : path_(std::move(path)),
      rate_(source.frame_rate > 0 ? source.frame_rate : kDefaultRate),
      is_timed_(source.frame_rate > 0 || source.live),
      is_live_(source.live),
      rotation_(rotation),
      drawn_(module<DrawModule>("draw"),
             [this](const DrawnFrame& drawn) { skipped_.try_write(drawn.results(), [&] { write(drawn); }); }) {
  if (rotation.is_on() && !is_stream_path(path_)) series_.emplace(path_, rotation.keep);
  begin();
}

void VideoTrack::begin() {
  if (series_) path_ = series_->next();
  writer_ = open_video_writer(path_, rate_, series_ ? OutputPath::Claim::kChecked : OutputPath::Claim::kRecorded);
  written_ = 0;
}

void VideoTrack::rotate() {
  // Taken first: a file that cannot be completed must not keep the next one from beginning.
  const std::unique_ptr<VideoWriter> finished = std::move(writer_);
  finished->close();
}

void VideoTrack::close() {
  drawn_.finish();
  if (writer_ != nullptr) writer_->close();
  if (series_) series_->finish();
  skipped_.report();
}

/// The time of DRAWN in the current file.
std::int64_t VideoTrack::time_of(const DrawnFrame& drawn) const {
  if (!is_timed_) return static_cast<std::int64_t>(static_cast<double>(written_) * 1e9 / rate_);
  return starts_at_zero() && written_ == 0 ? 0 : drawn.timestamp_ns() - start_ns_;
}

bool VideoTrack::is_due(std::int64_t time_ns) const {
  if (!series_ || written_ == 0) return false;
  return (rotation_.bytes > 0 && writer_->encoded_bytes() >= rotation_.bytes) ||
         (rotation_.period.count() > 0 && time_ns >= rotation_.period.count());
}

void VideoTrack::write(const DrawnFrame& drawn) {
  const RgbView& view = drawn.view();
  const bool has_size = written_ == 0 || (view.width == width_ && view.height == height_);
  // A further file takes any size.
  if (writer_ != nullptr && (is_due(time_of(drawn)) || (series_ && !has_size))) rotate();
  if (writer_ == nullptr) begin();
  if (written_ == 0) {
    width_ = view.width;
    height_ = view.height;
    if (starts_at_zero()) start_ns_ = drawn.timestamp_ns();
  } else if (!has_size) {
    fail(ErrorCode::kUnsupported, "can't write {}: frame {} is {}x{} where the first one was {}x{}; --frames takes any",
         path_, drawn.frame(), view.width, view.height, width_, height_);
  }
  try {
    writer_->write(view_of(view), time_of(drawn));
  } catch (const Error& error) {
    // A muxer does not go on after a failed write; a further file does.
    if (series_ && error.code() == ErrorCode::kIo) writer_.reset();
    throw;
  }
  ++written_;
}

}  // namespace saccade
