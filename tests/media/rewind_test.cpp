#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "media/encode.hpp"
#include "media/frame_reader.hpp"
#include "media/looping_reader.hpp"
#include "media/source_list.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

constexpr int kRound = 60;  // frames

struct RewoundKind {
  const char* format;
  const char* codec;
  bool is_sure;  ///< its demuxer finds the first packet again; others may
};

void PrintTo(const RewoundKind& kind, std::ostream* out) { *out << kind.codec << " in " << kind.format; }

class Rewind : public testing::TestWithParam<RewoundKind> {};

/// Time and pixels of a frame.
using Shown = std::pair<std::int64_t, std::vector<std::uint8_t>>;

Shown shown(const Frame& frame) {
  Shown all{frame.timestamp_ns, {}};
  for (std::size_t plane = 0; plane < 3; ++plane) {
    const int rows = plane == 0 ? frame.view.height : frame.view.height / 2;
    const int columns = plane == 0 ? frame.view.width : frame.view.width / 2;
    for (int y = 0; y < rows; ++y) {
      const std::uint8_t* row =
          frame.view.planes[plane] + static_cast<std::ptrdiff_t>(y) * frame.view.pitch_bytes[plane];
      all.second.insert(all.second.end(), row, row + columns);
    }
  }
  return all;
}

std::vector<Shown> rest_of(FrameReader& reader) {
  test::FramePool pool;
  std::vector<Shown> frames;
  for (auto frame = reader.read(pool); frame; frame = reader.read(pool)) {
    EXPECT_EQ(frame->sequence, static_cast<std::int64_t>(frames.size()));
    frames.push_back(shown(*frame));
  }
  return frames;
}

TEST_P(Rewind, GivesTheSameFramesAgain) {
  const auto [format, codec, is_sure] = GetParam();
  const test::TempFolder folder;
  const std::string path = folder / (std::string("a.") + format);
  ASSERT_TRUE(test::encode_video(path, format, codec, kRound)) << codec;
  for (const int threads : {1, 3}) {
    SCOPED_TRACE(threads);
    const auto reader = open_reader(path, {.decode_threads = threads});
    const std::vector<Shown> first = rest_of(*reader);
    ASSERT_EQ(first.size(), static_cast<std::size_t>(kRound));
    for (int round = 0; round < 2; ++round) {
      const bool is_rewound = reader->rewind();
      EXPECT_TRUE(is_rewound || !is_sure);
      if (!is_rewound) break;
      EXPECT_TRUE(rest_of(*reader) == first) << "round " << round;
    }
  }
}

TEST_P(Rewind, ALoopGivesTheSameFramesInEveryRound) {
  const auto [format, codec, is_sure] = GetParam();
  const test::TempFolder folder;
  const std::string path = folder / (std::string("a.") + format);
  ASSERT_TRUE(test::encode_video(path, format, codec, kRound)) << codec;
  for (const bool isolate : {false, true}) {
    SCOPED_TRACE(isolate);
    const auto reader = open_source(path, {.loop = true, .isolate = isolate});
    test::FramePool pool;
    std::vector<Shown> frames;
    for (int i = 0; i < 3 * kRound; ++i) {
      const auto frame = reader->read(pool);
      ASSERT_TRUE(frame) << i;
      EXPECT_EQ(frame->sequence, i);
      frames.push_back(shown(*frame));
      if (i >= kRound) {
        EXPECT_TRUE(frames.back().second == frames[static_cast<std::size_t>(i - kRound)].second) << i;
      }
      if (i > 0) {
        EXPECT_GT(frames.back().first, frames[frames.size() - 2].first) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Rewind,
                         testing::Values(RewoundKind{"mp4", "libx264", true}, RewoundKind{"mov", "mpeg4", true},
                                         RewoundKind{"mp4", "libx265", true}, RewoundKind{"matroska", "libx264", true},
                                         RewoundKind{"avi", "mpeg4", false}, RewoundKind{"matroska", "ffv1", true},
                                         RewoundKind{"mpegts", "libx264", false}, RewoundKind{"flv", "flv", false},
                                         RewoundKind{"webm", "libvpx-vp9", false},
                                         RewoundKind{"h264", "libx264", false},
                                         RewoundKind{"mpeg", "mpeg2video", false}));

TEST(RewoundFile, ThatIsDamagedGivesTheSameAgain) {
  const test::TempFolder folder;
  const std::string path = folder / "a.mp4";
  ASSERT_TRUE(test::encode_video(path, "mp4", "mpeg4", kRound));
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
    file << std::string(200, '\xFF');
  }
  const auto reader = open_looping(path);
  test::FramePool pool;
  const auto round = [&] {
    std::string text;
    while (text.size() < static_cast<std::size_t>(kRound)) {
      const auto frame = reader->read(pool);
      if (!frame && frame.failure().status != Status::kCorrupt) break;
      text += frame ? '.' : 'x';
    }
    return text;
  };
  const std::string first = round();
  ASSERT_NE(first.find('x'), std::string::npos);
  EXPECT_EQ(round(), first);
}

}  // namespace
}  // namespace saccade
