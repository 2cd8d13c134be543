#include "pipeline/stream/custom_reader.hpp"

#include <atomic>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

/// One frame of the pool, from acquire() to the frame.
class PoolTarget final : public FrameTarget {
 public:
  PoolTarget(FrameAllocator& allocator, bool is_live) : allocator_(allocator), is_live_(is_live) {}

  FramePlanes acquire(PixelFormat format, int width, int height) override {
    check_size(width, height);
    frame_.lease = FrameLease();  // a pool may have no other buffer
    const std::size_t bytes = frame_bytes(format, width, height);
    frame_.lease = is_live_ ? allocator_.try_acquire(bytes) : allocator_.acquire(bytes);
    start_ = Clock::now();
    was_refused_ = !frame_.lease;
    if (was_refused_) return {};
    frame_.view = lay_out(frame_.lease.buffer(), format, width, height);
    FramePlanes planes{.pitch_bytes = frame_.view.pitch_bytes};
    auto* first = reinterpret_cast<std::uint8_t*>(frame_.lease.buffer().data);
    for (std::size_t i = 0; i < planes.data.size(); ++i)
      if (frame_.view.planes[i] != nullptr) planes.data[i] = first + (frame_.view.planes[i] - frame_.view.planes[0]);
    return planes;
  }

  bool was_refused() const { return was_refused_; }
  bool has_frame() const { return static_cast<bool>(frame_.lease); }

  Frame take(const CapturedFrame& captured) {
    frame_.captured = Clock::now();
    frame_.capture_time = frame_.captured - start_;
    frame_.sequence = captured.sequence;
    frame_.timestamp_ns = captured.timestamp_ns;
    if (captured.exposed && *captured.exposed <= frame_.captured) frame_.exposed = captured.exposed;
    frame_.view.matrix = captured.matrix;
    frame_.view.range = captured.range;
    return std::move(frame_);
  }

 private:
  FrameAllocator& allocator_;
  bool is_live_;
  bool was_refused_ = false;
  Clock::time_point start_;
  Frame frame_;
};

class CustomReader final : public FrameReader {
 public:
  explicit CustomReader(std::unique_ptr<CustomSource> source) : source_(std::move(source)) {}

  const SourceInfo& info() const override { return source_->info(); }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    PoolTarget target(allocator, info().live);
    Outcome<CapturedFrame> captured = source_->read(target);
    if (!captured) {
      // To a source that takes no memory for the end, a live one lacks only this frame's.
      const bool lacks_buffer =
          target.was_refused() && info().live && captured.failure().status == Status::kCancelled && !cancelled_;
      return lacks_buffer ? Failure{Status::kNoBuffer, {}} : captured.failure();
    }
    if (!target.has_frame())
      return Failure{Status::kLost, fmt::format("{}: read() returned a frame without acquire()", info().name)};
    if (captured->sequence < 0) captured->sequence = next_;
    if (captured->sequence < next_)
      return Failure{Status::kLost, fmt::format("{}: frame {} follows frame {}; sequence numbers must increase",
                                                info().name, captured->sequence, next_ - 1)};
    next_ = captured->sequence + 1;
    return target.take(*captured);
  }

  void cancel() noexcept override {
    cancelled_ = true;
    source_->cancel();
  }

 private:
  std::unique_ptr<CustomSource> source_;
  std::int64_t next_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

std::unique_ptr<FrameReader> read_custom(std::unique_ptr<CustomSource> source) {
  if (source == nullptr) fail(ErrorCode::kInvalidArgument, "a custom source is null: give an object");
  return std::make_unique<CustomReader>(std::move(source));
}

}  // namespace saccade
