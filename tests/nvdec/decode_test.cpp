#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/module.hpp"
#include "decoded.hpp"
#include "media/encode.hpp"
#include "media/looping_reader.hpp"
#include "media/modules.hpp"
#include "saccade/error.hpp"
#include "support/temp_folder.hpp"

// What NVDEC decodes is what FFmpeg decodes.
namespace saccade {
namespace {

using test::encode_video;
using test::Encoding;
using test::expect_same;
using test::play;
using test::Playback;

struct Kind {
  const char* format;
  const char* codec;
  Encoding encoding;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.codec << " in " << kind.format << ", " << kind.encoding.width << "x" << kind.encoding.height << " "
       << kind.encoding.options;
}

class Nvdec : public testing::TestWithParam<Kind> {};

TEST_P(Nvdec, EqualsTheCpu) {
  const auto [format, codec, encoding] = GetParam();
  const test::TempFolder folder;
  const std::string path = folder / (std::string("a.") + format);
  const char* muxer = std::string_view(format) == "mkv"   ? "matroska"
                      : std::string_view(format) == "ts"  ? "mpegts"
                      : std::string_view(format) == "265" ? "hevc"
                                                          : format;
  ASSERT_TRUE(encode_video(path, muxer, codec, 60, "", encoding)) << "FFmpeg has no " << codec;
  const Playback cpu = play(path, Decoding::kCpu);
  EXPECT_EQ(cpu.frames.size(), 60U);
  EXPECT_EQ(cpu.from_gpu, 0);
  for (const Decoding decoding : {Decoding::kAuto, Decoding::kCuda}) {
    SCOPED_TRACE(to_string(decoding));
    const Playback gpu = play(path, decoding);
    EXPECT_EQ(gpu.from_gpu, 60);
    expect_same(gpu, cpu);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Videos, Nvdec,
    testing::Values(Kind{"mp4", "libx264", {}}, Kind{"mkv", "libx264", {}}, Kind{"ts", "libx264", {}},
                    Kind{"h264", "libx264", {}}, Kind{"mp4", "libx264", {.options = "bf=0"}},
                    Kind{"mp4", "libx264", {.width = 174, .height = 122}},
                    Kind{"mp4", "libx264", {.options = "color_range=pc,colorspace=bt709"}},
                    Kind{"mkv", "libx264", {.options = "bf=3,x264-params=open-gop=1"}}, Kind{"mp4", "libx265", {}},
                    Kind{"mkv", "libx265", {.width = 178, .height = 134}}, Kind{"265", "libx265", {.options = "bf=0"}},
                    Kind{"webm", "libvpx", {.width = 161, .height = 129}},
                    Kind{"webm", "libvpx-vp9", {.width = 161, .height = 129}}));

}  // namespace
}  // namespace saccade
