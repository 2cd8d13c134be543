#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "media/frame_reader.hpp"
#include "support/frames.hpp"
#include "tensor/frame.hpp"

namespace saccade::test {

/// Plain memory of which a GPU is said to read: that is how a reader sees frames for models on a GPU.
class GpuReadMemory final : public FrameMemory {
 public:
  MemoryKind kind() const override { return MemoryKind::kPlain; }
  std::byte* allocate(std::size_t bytes) override { return plain_frame_memory().allocate(bytes); }
  void deallocate(std::byte* memory) noexcept override { plain_frame_memory().deallocate(memory); }
  int device() const override { return 0; }
};

/// Frames for models on the GPU 0, with a limit of memory.
class GpuFrames final : public FrameAllocator {
 public:
  explicit GpuFrames(std::size_t buffers = 4) : pool_(buffers), buffers_(buffers) {}

  FrameLease acquire(std::size_t bytes) override { return pool_.acquire(bytes); }
  FrameLease try_acquire(std::size_t bytes) override { return pool_.try_acquire(bytes); }
  void release(FrameBuffer& buffer) noexcept override { pool_.release(buffer); }
  std::size_t buffers() const override { return buffers_; }
  FrameMemory& memory() override { return memory_; }
  void take(std::size_t bytes) override { taken_ += bytes; }
  void give_back(std::size_t bytes) noexcept override { taken_ -= bytes; }
  std::size_t taken() const { return taken_; }

 private:
  GpuReadMemory memory_;
  FramePool pool_;
  std::size_t buffers_;
  std::size_t taken_ = 0;
};

/// A frame as NV12, without padding.
struct Decoded {
  std::int64_t sequence = 0;
  std::int64_t timestamp_ns = 0;
  int width = 0;
  int height = 0;
  ColorMatrix matrix{};
  ColorRange range{};
  std::vector<std::uint8_t> samples;

  bool operator==(const Decoded&) const = default;
};

/// The samples of an NV12 or I420 image as NV12, row by row: a full HD image has three million.
inline std::vector<std::uint8_t> nv12_samples(const FrameView& view) {
  const auto row = [&view](std::size_t plane, int y) {
    return view.planes[plane] + static_cast<std::ptrdiff_t>(y) * view.pitch_bytes[plane];
  };
  const int columns = (view.width + 1) / 2;
  const int rows = (view.height + 1) / 2;
  std::vector<std::uint8_t> samples;
  samples.reserve(static_cast<std::size_t>(view.width) * view.height + 2 * static_cast<std::size_t>(columns) * rows);
  for (int y = 0; y < view.height; ++y) samples.insert(samples.end(), row(0, y), row(0, y) + view.width);
  for (int y = 0; y < rows; ++y) {
    if (view.format == PixelFormat::kNv12) {
      samples.insert(samples.end(), row(1, y), row(1, y) + static_cast<std::ptrdiff_t>(2) * columns);
      continue;
    }
    for (int x = 0; x < columns; ++x) samples.insert(samples.end(), {row(1, y)[x], row(2, y)[x]});
  }
  return samples;
}

inline Decoded decoded(const Frame& frame) {
  return {frame.sequence,
          frame.timestamp_ns,
          frame.view.width,
          frame.view.height,
          frame.view.matrix,
          frame.view.range,
          nv12_samples(host_view(frame))};
}

/// All that a reader returns.
struct Playback {
  std::vector<Decoded> frames;
  std::vector<std::string> corrupt;  ///< why
  int from_gpu = 0;                  ///< frames in the memory of a GPU
  Failure end{Status::kEnd, {}};
};

inline Playback play(FrameReader& reader, FrameAllocator& frames) {
  Playback playback;
  while (true) {
    Outcome<Frame> frame = reader.read(frames);
    if (frame) {
      playback.from_gpu += frame->view.memory == MemoryKind::kDevice ? 1 : 0;
      playback.frames.push_back(decoded(*frame));
    } else if (frame.failure().status == Status::kCorrupt) {
      playback.corrupt.push_back(frame.failure().message);
    } else {
      playback.end = frame.failure();
      return playback;
    }
  }
}

inline Playback play(const std::string& path, Decoding decoding) {
  GpuFrames frames;
  return play(*open_reader(path, {.decode = decoding}), frames);
}

/// Frame by frame, so that a failure has few words.
inline void expect_same(const Playback& got, const Playback& wanted) {
  EXPECT_EQ(got.frames.size(), wanted.frames.size());
  EXPECT_EQ(got.corrupt, wanted.corrupt);
  EXPECT_EQ(to_string(got.end.status), to_string(wanted.end.status)) << got.end.message;
  for (std::size_t i = 0; i < std::min(got.frames.size(), wanted.frames.size()); ++i) {
    const Decoded& a = got.frames[i];
    const Decoded& b = wanted.frames[i];
    ASSERT_EQ(a.sequence, b.sequence) << "frame " << i;
    ASSERT_EQ(a.timestamp_ns, b.timestamp_ns) << "frame " << i;
    ASSERT_EQ(std::pair(a.width, a.height), std::pair(b.width, b.height)) << "frame " << i;
    ASSERT_EQ(to_string(a.matrix), to_string(b.matrix)) << "frame " << i;
    ASSERT_EQ(to_string(a.range), to_string(b.range)) << "frame " << i;
    ASSERT_TRUE(a.samples == b.samples) << "pixels of frame " << i;
  }
}

}  // namespace saccade::test
