#include "media/synthetic.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "scene/scene.hpp"

namespace saccade {
namespace {

class Synthetic final : public FrameReader {
 public:
  explicit Synthetic(const std::string& uri) : scene_(parse_scene(uri)) {
    const SceneOptions& options = scene_.options();
    info_.name = uri;
    info_.frame_rate = options.fps;
    info_.frames = options.frames;
    info_.endless = options.frames < 0;
    last_ = options.frames < 0 ? kMostFrames : options.frames;
    info_.width = options.width;
    info_.height = options.height;
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    if (cancelled_) return Failure{Status::kCancelled, info_.name + ": reading was cancelled"};
    if (next_ == last_) return Failure{Status::kEnd, info_.name + ": no more frames"};
    Frame frame;
    frame.lease = allocator.acquire(frame_bytes(PixelFormat::kRgb24, info_.width, info_.height));
    if (!frame.lease) return Failure{Status::kCancelled, info_.name + ": reading was cancelled"};
    const auto start = Clock::now();
    frame.view = lay_out(frame.lease.buffer(), PixelFormat::kRgb24, info_.width, info_.height);
    scene_.render(next_, {reinterpret_cast<std::uint8_t*>(frame.lease.buffer().data), frame.view.pitch_bytes[0],
                          info_.width, info_.height});
    frame.sequence = next_++;
    frame.timestamp_ns =
        static_cast<std::int64_t>(std::floor(static_cast<double>(frame.sequence) * 1e9 / info_.frame_rate + 0.5));
    frame.captured = Clock::now();
    frame.capture_time = frame.captured - start;
    return frame;
  }

  bool pass_over(std::int64_t count) override {
    next_ = std::min(count, last_);
    return true;
  }

  void cancel() noexcept override { cancelled_ = true; }

 private:
  Scene scene_;
  SourceInfo info_;
  std::int64_t next_ = 0;
  std::int64_t last_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

std::unique_ptr<FrameReader> open_synthetic(const std::string& uri) { return std::make_unique<Synthetic>(uri); }

Frame read_scene(FrameReader& scene, FrameAllocator& allocator) {
  Outcome<Frame> frame = scene.read(allocator);
  if (!frame) fail(ErrorCode::kInternal, "the built-in scene has no frame: {}", frame.failure().message);
  return std::move(*frame);
}

}  // namespace saccade
