#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/digest.hpp"
#include "decoded.hpp"
#include "media/elementary.hpp"
#include "media/encode.hpp"
#include "support/temp_folder.hpp"

// Digests of clips for tests/cuda/nvdec_clips_test.cpp, which runs where FFmpeg is missing. Those of script/nvdec-clips
// are in the folder SACCADE_NVDEC_CLIPS; without it a clip is made here.
namespace saccade {
namespace {

TEST(NvdecClips, HaveTheDigestsOfTheCpu) {
  const test::TempFolder own;
  const char* const given = std::getenv("SACCADE_NVDEC_CLIPS");
  const std::string folder = given != nullptr ? std::string(given) : own / "";
  if (given == nullptr) {
    ASSERT_TRUE(test::encode_video(own / "clip.h264", "h264", "libx264", 12, "", {}));
  }
  int clips = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!elementary_codec(entry.path().string())) continue;
    const test::Playback cpu = test::play(entry.path().string(), Decoding::kCpu);
    EXPECT_TRUE(cpu.corrupt.empty()) << entry.path();
    ASSERT_FALSE(cpu.frames.empty()) << entry.path();
    std::ofstream digests(entry.path().string() + ".digests");
    for (const test::Decoded& frame : cpu.frames)
      digests << frame.width << ' ' << frame.height << ' '
              << digest({reinterpret_cast<const char*>(frame.samples.data()), frame.samples.size()}) << '\n';
    ASSERT_TRUE(digests.good());
    ++clips;
  }
  EXPECT_GT(clips, 0);
}

}  // namespace
}  // namespace saccade
