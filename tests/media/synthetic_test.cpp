#include <gtest/gtest.h>

#include "media/frame_reader.hpp"
#include "saccade/error.hpp"
#include "scene/scene.hpp"
#include "support/frames.hpp"

namespace saccade {
namespace {

TEST(Synthetic, GivesTheScenesFramesInOrder) {
  constexpr const char* kUri = "synthetic:?seed=3&size=100x60&fps=20&frames=3";
  test::FramePool pool(1);
  const auto reader = open_reader(kUri);
  EXPECT_EQ(reader->info().name, kUri);
  EXPECT_FALSE(reader->info().live);
  EXPECT_EQ(reader->info().frame_rate, 20);
  EXPECT_EQ(reader->info().frames, 3);
  EXPECT_EQ(reader->info().width, 100);
  EXPECT_EQ(reader->info().height, 60);

  Scene scene(parse_scene(kUri));
  std::vector<std::uint8_t> expected(100 * 60 * 3);
  for (int number = 0; number < 3; ++number) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, number);
    EXPECT_EQ(frame->timestamp_ns, number * 50'000'000LL);
    EXPECT_EQ(frame->image_id, -1);
    EXPECT_GT(frame->capture_time.count(), 0);
    ASSERT_EQ(frame->view.format, PixelFormat::kRgb24);
    scene.render(number, {expected.data(), 300, 100, 60});
    for (int y = 0; y < 60; ++y) {
      const std::uint8_t* row = frame->view.planes[0] + static_cast<std::ptrdiff_t>(y) * frame->view.pitch_bytes[0];
      EXPECT_TRUE(std::equal(row, row + 300, expected.data() + 300 * y)) << "frame " << number << " row " << y;
    }
  }
  const Outcome<Frame> end = reader->read(pool);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.failure().status, Status::kEnd);
  EXPECT_EQ(pool.allocations(), 1);
}

TEST(Synthetic, IsEndlessUntilCancelled) {
  test::FramePool pool(1);
  const auto reader = open_reader("synthetic:?size=32x32");
  EXPECT_EQ(reader->info().frames, -1);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(reader->read(pool));
  reader->cancel();
  const Outcome<Frame> after = reader->read(pool);
  ASSERT_FALSE(after);
  EXPECT_EQ(after.failure().status, Status::kCancelled);
}

TEST(Synthetic, AWrongOptionIsNamed) { EXPECT_THROW(open_reader("synthetic:?sead=1"), Error); }

}  // namespace
}  // namespace saccade
