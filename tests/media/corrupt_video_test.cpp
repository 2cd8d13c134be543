#include <gtest/gtest.h>

#include "base/module.hpp"
#include "media/encode.hpp"
#include "media/modules.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::FramePool;
using test::TempFolder;

struct Damage {
  const char* codec;
  std::uint32_t seed;
};
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.codec << ' ' << damage.seed; }

/// BYTES with flipped bits in the frames' data, never in the index.
std::string with_turned_bits(std::string bytes, std::uint32_t seed) {
  const std::size_t data = bytes.find("mdat") + 4;
  const std::size_t end = bytes.find("moov") - 4;
  constexpr std::size_t kHead = 1500;  // the first frame, which all others reference
  for (int i = 0; i < 24; ++i) {
    seed = seed * 1664525U + 1013904223U;
    bytes[data + kHead + (seed >> 4) % (end - data - kHead)] ^= static_cast<char>(1U << (seed & 7U));
  }
  return bytes;
}

/// A letter per read: '.' a frame, 'x' a damaged one; then why it ended.
std::string outcomes(const std::string& path, int threads) {
  const auto reader = module<FfmpegModule>("ffmpeg").open_video(path, {.decode_threads = threads});
  FramePool pool(2);
  std::string list;
  while (true) {
    const Outcome<Frame> frame = reader->read(pool);
    if (!frame && frame.failure().status != Status::kCorrupt) return list + frame.failure().message;
    list += frame ? "." : "x" + frame.failure().message;
  }
}

class CorruptVideo : public testing::TestWithParam<Damage> {};

TEST_P(CorruptVideo, GivesTheSameFramesEachTime) {
  const TempFolder folder;
  ASSERT_TRUE(test::encode_video(folder / "whole.mp4", "mp4", GetParam().codec, 120)) << GetParam().codec;
  const std::string path =
      folder.write("bad.mp4", with_turned_bits(test::bytes_of_file(folder / "whole.mp4"), GetParam().seed));

  const std::string expected = outcomes(path, 1);

  EXPECT_NE(expected.find('x'), std::string::npos) << "nothing was damaged";
  for (const int threads : {1, 2, 4})
    for (int run = 0; run < 20; ++run) ASSERT_EQ(outcomes(path, threads), expected) << threads << " threads";
}

INSTANTIATE_TEST_SUITE_P(Codecs, CorruptVideo,
                         testing::Values(Damage{"libx264", 1}, Damage{"libx264", 2}, Damage{"libx264", 3},
                                         Damage{"libx265", 1}, Damage{"libx265", 2}, Damage{"mpeg4", 1},
                                         Damage{"mpeg4", 2}, Damage{"mpeg4", 3}),
                         [](const auto& damage) {
                           return std::string(damage.param.codec) + "_" + std::to_string(damage.param.seed);
                         });

TEST(CorruptVideoFar, FromItsStartIsDecodedAgainFromAKeyframeBefore) {
  const TempFolder folder;
  ASSERT_TRUE(test::encode_video(folder / "whole.mp4", "mp4", "libx264", 700));
  std::string bytes = test::bytes_of_file(folder / "whole.mp4");
  const std::size_t data = bytes.find("mdat") + 4;
  const std::size_t end = bytes.find("moov") - 4;
  // Several frames, because the encoder's output differs between processors and a decoder may not notice one of them.
  for (std::size_t i = 0; i < 3000; ++i) bytes[data + (end - data) * 9 / 10 + i] ^= '\x55';
  const std::string path = folder.write("bad.mp4", bytes);

  const std::string expected = outcomes(path, 1);

  EXPECT_EQ(expected.find_first_not_of('.'), expected.find('x'));
  EXPECT_GT(expected.find('x'), 500U);
  for (const int threads : {1, 2, 4})
    for (int run = 0; run < 5; ++run) ASSERT_EQ(outcomes(path, threads), expected) << threads << " threads";
}

}  // namespace
}  // namespace saccade
