#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>

#include "media/isolated/isolated_reader.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "saccade/log.hpp"

// The registration of the memory that a child fills, with what a GPU's FrameMemory does for it.
namespace saccade {
namespace {

/// A GPU that reads what is registered with it, or refuses.
class Registry final : public FrameMemory {
 public:
  explicit Registry(bool accepts) : accepts_(accepts) {}
  MemoryKind kind() const override { return MemoryKind::kPinned; }
  std::byte* allocate(std::size_t bytes) override {
    return static_cast<std::byte*>(::operator new (bytes + 64, std::align_val_t{4096}));
  }
  void deallocate(std::byte* memory) noexcept override { ::operator delete (memory, std::align_val_t{4096}); }
  bool register_host(std::byte* memory, std::size_t bytes) override {
    ++requests;
    if (!accepts_) return false;
    first = memory;
    size = bytes;
    return true;
  }
  void unregister_host(std::byte* memory) noexcept override {
    ++ends;
    // Fails with ENOMEM where a page is not mapped any more.
    was_mapped = memory == first && msync(memory, size, MS_ASYNC) == 0;
  }
  bool has(const void* address) const { return address >= first && address < first + size; }

  int requests = 0;
  int ends = 0;
  bool was_mapped = false;
  const std::byte* first = nullptr;
  std::size_t size = 0;

 private:
  bool accepts_;
};

std::unique_ptr<FrameReader> filled_by_child(const std::string& uri) {
  return open_isolated({.uri = uri, .images = {}, .options = {}}, SACCADE_CRASHING_SOURCE);
}

TEST(IsolatedMemory, IsRegisteredUntilTheLastFrameEnds) {
  Registry registry(true);
  saccade::FramePool pool(4, registry);
  auto reader = filled_by_child("frames=6");
  std::vector<Frame> kept;
  for (int i = 0; i < 2; ++i) kept.push_back(std::move(*reader->read(pool)));
  for (const Frame& frame : kept) {
    EXPECT_EQ(frame.view.memory, MemoryKind::kPinned);
    EXPECT_TRUE(registry.has(frame.view.planes[0]));
  }
  EXPECT_EQ(registry.requests, 1) << "all buffers at once";
  reader.reset();
  kept.pop_back();
  EXPECT_EQ(registry.ends, 0) << "a GPU may read the other frame";
  kept.clear();
  EXPECT_EQ(registry.ends, 1);
  EXPECT_TRUE(registry.was_mapped) << "before its pages are unmapped";
}

TEST(IsolatedMemory, LargerFramesAreRegisteredAnew) {
  Registry registry(true);
  saccade::FramePool pool(4, registry);
  auto reader = filled_by_child("frames=6 grow=3");
  for (int i = 0; i < 6; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_TRUE(registry.has(frame->view.planes[0])) << i;
  }
  EXPECT_EQ(registry.requests, 2);
  EXPECT_EQ(registry.ends, 1) << "the smaller buffers";
  reader.reset();
  EXPECT_EQ(registry.ends, 2);
}

TEST(IsolatedMemory, ARefusalIsTold) {
  Registry registry(false);
  saccade::FramePool pool(4, registry);
  const LogLevel level = log_level();
  set_log_level(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  auto reader = filled_by_child("frames=6");
  const Outcome<Frame> frame = reader->read(pool);
  const std::string told = testing::internal::GetCapturedStderr();
  set_log_level(level);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->view.memory, MemoryKind::kPlain) << "it is copied";
  EXPECT_THAT(told, testing::HasSubstr("can't be registered with the GPU: they are copied once more"));
  EXPECT_EQ(registry.requests, 1);
  EXPECT_EQ(registry.ends, 0);
}

}  // namespace
}  // namespace saccade
