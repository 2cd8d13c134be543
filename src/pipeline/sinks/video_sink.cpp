#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/module.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "pipeline/sinks/skipped_images.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

// Default frame rate for images, as in video tools.
constexpr double kDefaultRate = 25;

/// out.mp4, out-1.mp4, ...
std::string numbered(const std::filesystem::path& path, std::size_t place) {
  if (place == 0) return path.string();
  return (path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), place, path.extension().string())).string();
}

/// One source's file.
class Track {
 public:
  Track(std::string path, double frame_rate)
      : path_(std::move(path)),
        rate_(frame_rate > 0 ? frame_rate : kDefaultRate),
        is_timed_(frame_rate > 0),
        writer_(open_video_writer(path_, rate_)),
        drawn_(module<DrawModule>("draw"),
               [this](const DrawnFrame& drawn) { skipped_.try_write([&] { write(drawn); }); }) {}

  void add(const Result& result, const FrameView& frame) { drawn_.add(result, frame); }

  void close() {
    drawn_.finish();
    writer_->close();
    skipped_.report();
  }

 private:
  void write(const DrawnFrame& drawn) {
    const RgbView& view = drawn.view();
    if (written_ == 0) {
      width_ = view.width;
      height_ = view.height;
    } else if (view.width != width_ || view.height != height_) {
      fail(ErrorCode::kUnsupported,
           "can't write {}: frame {} is {}x{} where the first one was {}x{}; --frames takes any", path_, drawn.frame(),
           view.width, view.height, width_, height_);
    }
    const auto time =
        is_timed_ ? drawn.timestamp_ns() : static_cast<std::int64_t>(static_cast<double>(written_) * 1e9 / rate_);
    writer_->write(view_of(view), time);
    ++written_;
  }

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

class VideoSink final : public Sink {
 public:
  VideoSink(const std::string& path, std::span<const Source> sources) {
    for (const Source& source : sources)
      tracks_.push_back(std::make_unique<Track>(numbered(path, tracks_.size()), source.info().frame_rate));
  }

  void write(const Result& result, const FrameView& frame) override {
    tracks_[static_cast<std::size_t>(result.stream)]->add(result, frame);
  }

  void close(const Summary& /*summary*/) override {
    std::optional<Error> first;
    for (const auto& track : tracks_) {
      try {
        track->close();
      } catch (const Error& error) {
        if (!first) first = error;
      }
    }
    if (first) throw *first;
  }

 private:
  std::vector<std::unique_ptr<Track>> tracks_;
};

}  // namespace

std::unique_ptr<Sink> open_video(const std::string& path, std::span<const Source> sources) {
  return std::make_unique<VideoSink>(path, sources);
}

}  // namespace saccade
