#include "pipeline/frame_pool.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace saccade {
namespace {

TEST(FramePool, BuffersGoRound) {
  FramePool pool(1);
  const std::byte* first = pool.acquire(1000).buffer().data;
  FrameLease again = pool.acquire(1000);
  EXPECT_EQ(again.buffer().data, first);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  EXPECT_EQ(pool.bytes(), 1000U);
}

TEST(FramePool, GrowsOnlyForLargerFrames) {
  FramePool pool(1);
  { const FrameLease lease = pool.acquire(1000); }
  { const FrameLease lease = pool.acquire(500); }
  EXPECT_EQ(pool.bytes(), 1000U);
  { const FrameLease lease = pool.acquire(2000); }
  EXPECT_EQ(pool.bytes(), 2000U);
}

TEST(FramePool, PrefersTheBufferThatFits) {
  FramePool pool(2);
  {
    const FrameLease small = pool.acquire(100);
    const FrameLease large = pool.acquire(900);
  }
  const FrameLease first = pool.acquire(900);
  const FrameLease second = pool.acquire(100);
  EXPECT_EQ(pool.bytes(), 1000U);
}

TEST(FramePool, WaitsForAReturnedBuffer) {
  FramePool pool(1);
  FrameLease lease = pool.acquire(10);
  std::thread waiting([&] { EXPECT_TRUE(pool.acquire(10)); });
  lease = FrameLease();
  waiting.join();
}

TEST(FramePool, CancelEndsAWait) {
  FramePool pool(1);
  const FrameLease lease = pool.acquire(10);
  std::thread waiting([&] { EXPECT_FALSE(pool.acquire(10)); });
  pool.cancel();
  waiting.join();
  EXPECT_FALSE(pool.acquire(10));
}

}  // namespace
}  // namespace saccade
