#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "pipeline/sinks/numbered_path.hpp"
#include "pipeline/sinks/video_track.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

/// The video of one source, which is the only one whose results it gets.
class TrackSink final : public FileSink {
 public:
  TrackSink(std::string path, const SourceInfo& source, const Rotation& rotation)
      : path_(std::move(path)), track_(path_, source, rotation) {}

  const std::string& path() const override { return path_; }
  void write(const Result& result, const FrameView& frame) override { track_.add(result, frame); }
  void close(const Summary& /*summary*/) override { track_.close(); }
  std::int64_t failed() const override { return track_.failed(); }

 private:
  std::string path_;
  VideoTrack track_;
};

class VideoSink final : public Sink {
 public:
  explicit VideoSink(std::vector<std::unique_ptr<FileSink>> tracks) : tracks_(std::move(tracks)) {}

  void write(const Result& result, const FrameView& frame) override {
    tracks_[static_cast<std::size_t>(result.stream)]->write(result, frame);
  }

  void close(const Summary& summary) override {
    std::optional<Error> first;
    for (const auto& track : tracks_) {
      try {
        track->close(summary);
      } catch (const Error& error) {
        if (!first) first = error;
      }
    }
    if (first) throw *first;
  }

  std::int64_t failed() const override {
    return std::accumulate(tracks_.begin(), tracks_.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& track) { return sum + track->failed(); });
  }

 private:
  std::vector<std::unique_ptr<FileSink>> tracks_;
};

}  // namespace

std::vector<std::unique_ptr<FileSink>> open_videos(const std::string& path, std::span<const Source> sources,
                                                   const Rotation& rotation) {
  std::vector<std::unique_ptr<FileSink>> tracks;
  for (const Source& source : sources)
    tracks.push_back(std::make_unique<TrackSink>(numbered_path(path, tracks.size()), source.info(), rotation));
  return tracks;
}

std::unique_ptr<Sink> open_video(const std::string& path, std::span<const Source> sources, const Rotation& rotation) {
  return std::make_unique<VideoSink>(open_videos(path, sources, rotation));
}

}  // namespace saccade
