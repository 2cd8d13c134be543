#include "pipeline/sinks/video_track.hpp"

#include "base/error.hpp"
#include "base/module.hpp"

namespace saccade {
namespace {

constexpr double kDefaultRate = 25;

}  // namespace

VideoTrack::VideoTrack(std::string path, double frame_rate)
    : path_(std::move(path)),
      rate_(frame_rate > 0 ? frame_rate : kDefaultRate),
      is_timed_(frame_rate > 0),
      writer_(open_video_writer(path_, rate_)),
      drawn_(module<DrawModule>("draw"),
             [this](const DrawnFrame& drawn) { skipped_.try_write([&] { write(drawn); }); }) {}

void VideoTrack::close() {
  drawn_.finish();
  writer_->close();
  skipped_.report();
}

void VideoTrack::write(const DrawnFrame& drawn) {
  const RgbView& view = drawn.view();
  if (written_ == 0) {
    width_ = view.width;
    height_ = view.height;
  } else if (view.width != width_ || view.height != height_) {
    fail(ErrorCode::kUnsupported, "can't write {}: frame {} is {}x{} where the first one was {}x{}; --frames takes any",
         path_, drawn.frame(), view.width, view.height, width_, height_);
  }
  const auto time =
      is_timed_ ? drawn.timestamp_ns() : static_cast<std::int64_t>(static_cast<double>(written_) * 1e9 / rate_);
  writer_->write(view_of(view), time);
  ++written_;
}

}  // namespace saccade
