#include <optional>

#include "base/error.hpp"
#include "pipeline/sinks/numbered_path.hpp"
#include "pipeline/sinks/video_track.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

class VideoSink final : public Sink {
 public:
  VideoSink(const std::string& path, std::span<const Source> sources, const Rotation& rotation) {
    for (const Source& source : sources)
      tracks_.push_back(std::make_unique<VideoTrack>(numbered_path(path, tracks_.size()), source.info(), rotation));
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
  std::vector<std::unique_ptr<VideoTrack>> tracks_;
};

}  // namespace

std::unique_ptr<Sink> open_video(const std::string& path, std::span<const Source> sources, const Rotation& rotation) {
  return std::make_unique<VideoSink>(path, sources, rotation);
}

}  // namespace saccade
