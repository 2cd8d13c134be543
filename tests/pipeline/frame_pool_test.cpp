#include "pipeline/model/frame_pool.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "base/memory_budget.hpp"

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

TEST(FramePool, FillsUpToTheLargestFrame) {
  FramePool pool(3);
  pool.fill_up();
  EXPECT_EQ(pool.bytes(), 0U);
  const FrameLease small = pool.acquire(100);
  pool.fill_up();
  EXPECT_EQ(pool.bytes(), 300U);
  const FrameLease large = pool.acquire(5000);
  pool.fill_up();
  EXPECT_EQ(pool.bytes(), 10'100U) << "the buffer in use stays";
  EXPECT_TRUE(pool.acquire(5000));
  EXPECT_EQ(pool.bytes(), 10'100U) << "nothing is allocated again";
}

TEST(FramePool, LeavesUnusedBuffersEmpty) {
  FramePool pool(5);
  const FrameLease lease = pool.acquire(100);
  pool.fill_up(3);
  EXPECT_EQ(pool.bytes(), 200U);
  const FrameLease second = pool.acquire(100);
  const FrameLease third = pool.acquire(100);
  EXPECT_EQ(pool.bytes(), 300U) << "it is still allocated on demand";
  FramePool none(2);
  const FrameLease only = none.acquire(100);
  none.fill_up(3);
  EXPECT_EQ(none.bytes(), 100U);
}

TEST(FramePool, FillsUpWithinHalfOfItsLimit) {
  FramePool pool(4, plain_frame_memory(), 10'000);
  const FrameLease lease = pool.acquire(2000);
  pool.fill_up();
  EXPECT_EQ(pool.bytes(), 4000U);
  const FrameLease second = pool.acquire(2000);
  const FrameLease third = pool.acquire(2000);
  EXPECT_EQ(pool.bytes(), 6000U) << "it is still allocated on demand";
}

TEST(FramePool, WaitsForAReturnedBuffer) {
  FramePool pool(1);
  FrameLease lease = pool.acquire(10);
  std::thread waiting([&] { EXPECT_TRUE(pool.acquire(10)); });
  lease = FrameLease();
  waiting.join();
}

TEST(FramePool, TriesWithoutWaiting) {
  FramePool pool(1);
  FrameLease lease = pool.try_acquire(10);
  EXPECT_TRUE(lease);
  EXPECT_FALSE(pool.try_acquire(10));
  lease = FrameLease();
  EXPECT_TRUE(pool.try_acquire(10));
  pool.cancel();
  EXPECT_FALSE(pool.try_acquire(10));
}

TEST(FramePool, CancelEndsAWait) {
  FramePool pool(1);
  const FrameLease lease = pool.acquire(10);
  std::thread waiting([&] { EXPECT_FALSE(pool.acquire(10)); });
  pool.cancel();
  waiting.join();
  EXPECT_FALSE(pool.acquire(10));
}

TEST(FramePool, RefusesFramesThatTogetherTakeTooMuch) {
  FramePool pool(2);
  EXPECT_THROW(pool.acquire(default_memory_limit() + 1), Error);
  EXPECT_THROW(pool.acquire(std::numeric_limits<std::size_t>::max()), Error);
  EXPECT_EQ(pool.bytes(), 0U);

  const FrameLease frame = pool.acquire(1024);
  try {
    pool.acquire(default_memory_limit() - 1000);
    FAIL() << "it took all but 1000 bytes beside 1024";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--queue"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(pool.acquire(2048)) << "what was refused is not counted";
}

TEST(FramePool, CountsWhatASourceHoldsBesideItsFrames) {
  FramePool pool(1, plain_frame_memory(), 10'000);
  EXPECT_THROW(pool.take(10'001), Error);
  pool.take(8'000);
  EXPECT_THROW(pool.acquire(2'001), Error);
  pool.give_back(8'000);
  EXPECT_TRUE(pool.acquire(2'001));
}

}  // namespace
}  // namespace saccade
