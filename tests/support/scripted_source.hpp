#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "saccade/pipeline.hpp"

namespace saccade::test {

/// One step of a scripted reader.
enum class Act {
  kFrame,     ///< a frame, 16x8 RGB, all of one colour
  kCorrupt,   ///< a damaged frame, which consumes its number
  kGap,       ///< the next frame's number is one higher than it would be
  kNoBuffer,  ///< a frame without a buffer, which consumes its number
  kBehind,    ///< a frame that was not decoded, which consumes its number
  kAway,      ///< the device is away, and says so
  kQuiet,     ///< no frame in time
  kLost,      ///< the device fails
  kHang,      ///< blocks until cancelled
};

/// A reader that follows a script, then ends.
class ScriptedReader final : public FrameReader {
 public:
  ScriptedReader(std::string name, std::vector<Act> script, bool live = false) : script_(std::move(script)) {
    info_.name = std::move(name);
    info_.live = live;
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    while (next_ < script_.size()) {
      switch (script_[next_++]) {
        case Act::kFrame: return frame(allocator);
        case Act::kCorrupt: ++sequence_; return Failure{Status::kCorrupt, info_.name + ": a damaged frame"};
        case Act::kNoBuffer: ++sequence_; return Failure{Status::kNoBuffer, {}};
        case Act::kBehind: ++sequence_; return Failure{Status::kBehind, {}};
        case Act::kAway: return Failure{Status::kTimeout, info_.name + ": unplugged"};
        case Act::kQuiet: return Failure{Status::kTimeout, {}};
        case Act::kGap: ++sequence_; break;
        case Act::kLost: return Failure{Status::kLost, "unplugged"};
        case Act::kHang: wait_for_cancel(); break;
      }
      if (is_cancelled()) return Failure{Status::kCancelled, {}};
    }
    return Failure{Status::kEnd, {}};
  }

  void cancel() noexcept override {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
    wake_.notify_all();
  }

 private:
  Outcome<Frame> frame(FrameAllocator& allocator) {
    Frame made;
    made.lease = allocator.acquire(frame_bytes(PixelFormat::kRgb24, 16, 8));
    if (!made.lease) return Failure{Status::kCancelled, {}};
    made.view = lay_out(made.lease.buffer(), PixelFormat::kRgb24, 16, 8);
    std::fill_n(made.lease.buffer().data, made.lease.buffer().capacity, std::byte{255});
    made.sequence = sequence_++;
    made.timestamp_ns = made.sequence * 40'000'000;
    made.captured = Clock::now();
    made.capture_time = std::chrono::microseconds(100);
    return made;
  }

  bool is_cancelled() {
    const std::scoped_lock lock(mutex_);
    return cancelled_;
  }

  void wait_for_cancel() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return cancelled_; });
  }

  SourceInfo info_;
  std::vector<Act> script_;
  std::size_t next_ = 0;
  std::int64_t sequence_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool cancelled_ = false;
};

inline std::vector<Act> frames(std::size_t count) { return std::vector<Act>(count, Act::kFrame); }

inline Source scripted_source(std::string name, std::vector<Act> script, bool live = false) {
  return source_of(std::make_unique<ScriptedReader>(std::move(name), std::move(script), live));
}

/// Reads a pipeline to its end; returns the number of results.
inline int drain(Pipeline& pipeline) {
  int results = 0;
  for ([[maybe_unused]] auto& result : pipeline) ++results;
  return results;
}

}  // namespace saccade::test
