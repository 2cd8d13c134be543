#include <gtest/gtest.h>

#include "media/container_end.hpp"
#include "media/encode.hpp"
#include "media/frame_reader.hpp"
#include "media/images.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::FramePool;
using test::Reading;
using test::TempFolder;

constexpr int kCutFrames = 60;

/// A container, and how its file is written.
struct ContainerKind {
  const char* name;
  const char* format;
  const char* options;
};
void PrintTo(const ContainerKind& kind, std::ostream* out) { *out << kind.name; }

std::string video_as(const TempFolder& folder, const ContainerKind& kind) {
  std::string path = folder / (std::string("video-") + kind.name);
  EXPECT_TRUE(test::encode_video(path, kind.format, "mpeg4", kCutFrames, kind.options));
  return path;
}

Reading read_or_refusal(const std::string& path, FramePool& pool) {
  try {
    return test::read_all(*open_reader(path), pool);
  } catch (const Error& error) {
    return {.end = Status::kLost, .message = error.what()};
  }
}

class CutContainers : public testing::TestWithParam<ContainerKind> {};

TEST_P(CutContainers, ACompleteFileIsNotReported) {
  const TempFolder folder;
  FramePool pool(2);

  const Reading reading = read_or_refusal(video_as(folder, GetParam()), pool);

  EXPECT_EQ(reading.end, Status::kEnd) << reading.message;
  EXPECT_EQ(reading.frames, kCutFrames);
  EXPECT_EQ(reading.corrupt, 0) << reading.corrupt_message;
}

TEST_P(CutContainers, ATruncatedFileIsReported) {
  const TempFolder folder;
  const std::string whole = test::bytes_of_file(video_as(folder, GetParam()));
  FramePool pool(2);
  // Near the end, where all frames are present, and throughout the file.
  std::vector<std::size_t> lengths;
  for (std::size_t missing = 1; missing < 24; ++missing) lengths.push_back(whole.size() - missing);
  for (std::size_t length = 1; length < whole.size(); length += whole.size() / 37 + 1) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    // A cut between two packets of MPEG-TS cannot be detected.
    if (GetParam().format == std::string("mpegts") && length % 188 == 0) continue;
    const std::string path = folder.write("cut", whole.substr(0, length));

    const Reading reading = read_or_refusal(path, pool);

    EXPECT_EQ(reading.end, Status::kLost) << length << " of " << whole.size() << ": " << reading.frames;
    EXPECT_NE(reading.message.find(path), std::string::npos) << reading.message;
  }
}

class CutContainersWithoutIndex : public CutContainers {};

TEST_P(CutContainersWithoutIndex, FramesBeforeTheCutStillCome) {
  const TempFolder folder;
  const std::string whole = test::bytes_of_file(video_as(folder, GetParam()));
  FramePool pool(2);

  const Reading reading = read_or_refusal(folder.write("cut", whole.substr(0, whole.size() / 2 - 1)), pool);

  EXPECT_GT(reading.frames, kCutFrames / 4);
  EXPECT_LT(reading.frames, kCutFrames * 3 / 4);
}

// An MP4 with its index at the end has no frames without it.
constexpr ContainerKind kIndexAtEnd[] = {{"mp4", "mp4", ""}};
constexpr ContainerKind kReadableUntilTheCut[] = {{"mkv", "matroska", ""},
                                                  {"live_mkv", "matroska", "live=1"},
                                                  {"small_clusters", "matroska", "cluster_time_limit=200"},
                                                  {"fast_mp4", "mp4", "movflags=faststart"},
                                                  {"fragments", "mp4", "movflags=frag_keyframe+empty_moov"},
                                                  {"mov", "mov", "movflags=faststart"},
                                                  {"avi", "avi", ""},
                                                  {"ts", "mpegts", ""},
                                                  {"asf", "asf", ""}};
const auto name_of_kind = [](const auto& kind) { return std::string(kind.param.name); };
INSTANTIATE_TEST_SUITE_P(IndexAtEnd, CutContainers, testing::ValuesIn(kIndexAtEnd), name_of_kind);
INSTANTIATE_TEST_SUITE_P(All, CutContainers, testing::ValuesIn(kReadableUntilTheCut), name_of_kind);
INSTANTIATE_TEST_SUITE_P(All, CutContainersWithoutIndex, testing::ValuesIn(kReadableUntilTheCut), name_of_kind);

// An AVI file counts ticks; a repeated frame is an empty chunk, which yields no frame.
TEST(WholeVideo, WithFewerFramesThanTicksIsNotReported) {
  const TempFolder folder;
  ASSERT_TRUE(test::encode_video(folder / "a.mp4", "mp4", "mpeg4", kCutFrames));
  test::remux(folder / "a.mp4", folder / "a.avi", "avi");
  FramePool pool(2);

  const Reading reading = read_or_refusal(folder / "a.avi", pool);

  EXPECT_EQ(reading.end, Status::kEnd) << reading.message;
  EXPECT_EQ(reading.frames, kCutFrames);
}

TEST(ContainerEnd, OfAnUnknownSizeIsKnownByItsParts) {
  using namespace std::string_literals;
  const TempFolder folder;
  const auto end_of = [&](const std::string& bytes) { return container_end(folder.write("file", bytes)); };
  // EBML head, segment and cluster of unknown sizes, with blocks of 3 bytes.
  const std::string head = "\x1A\x45\xDF\xA3\x80\x18\x53\x80\x67\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s;
  const std::string cluster = "\x1F\x43\xB6\x75\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xE7\x81\x00"s;
  const std::string block = "\xA3\x83xyz"s;

  EXPECT_EQ(end_of(head).cut, "");
  EXPECT_EQ(end_of(head + cluster + block + block + cluster + block).cut, "");
  EXPECT_FALSE(end_of(head + cluster + block).is_whole);
  EXPECT_EQ(end_of(head + cluster + block + block.substr(0, 4)).cut, "1 bytes of an element are missing");
  EXPECT_EQ(end_of(head + cluster + block + block.substr(0, 1)).cut, "it ends within an element");
  EXPECT_EQ(end_of(head + cluster + block + std::string(100, '\0')).cut, "");  // not an element

  const std::string known = "\x1A\x45\xDF\xA3\x80\x18\x53\x80\x67\x88\xEC\x86" + std::string(6, 'v');
  EXPECT_TRUE(end_of(known).is_whole);
  EXPECT_TRUE(end_of(known + "appended").is_whole);
  EXPECT_EQ(end_of(known.substr(0, known.size() - 3)).cut, "3 bytes of its segment are missing");
}

TEST(ContainerEnd, OfYuv4MpegFollowsFromItsHeader) {
  const TempFolder folder;
  const auto end_of = [&](const std::string& bytes) { return container_end(folder.write("a.y4m", bytes)).cut; };
  struct Case {
    const char* format;
    std::size_t bytes;  // of a frame of 5x3
  };
  for (const auto& [format, bytes] :
       {Case{"", 27}, Case{" C420jpeg", 27}, Case{" C420mpeg2", 27}, Case{" C422", 33}, Case{" C444", 45},
        Case{" C444alpha", 60}, Case{" C411", 27}, Case{" Cmono", 15}, Case{" C420p10", 54}, Case{" Cmono16", 30}}) {
    const std::string head = std::string("YUV4MPEG2 W5 H3 F25:1") + format + " XYSCSS=odd\n";
    const std::string file =
        head + "FRAME\n" + std::string(bytes, 'a') + "FRAME Ixyz\n" + std::string(bytes, '\n') + "FRAME\n";
    EXPECT_EQ(end_of(file + std::string(bytes, 'c')), "") << format;
    EXPECT_EQ(end_of(file + std::string(bytes - 1, 'c')), "1 bytes of a frame are missing") << format;
    EXPECT_EQ(end_of(file), std::to_string(bytes) + " bytes of a frame are missing") << format;
    EXPECT_EQ(end_of(file.substr(0, file.size() - 1)), "it ends within a frame") << format;
  }
  EXPECT_EQ(end_of("YUV4MPEG2 W5 H3 Codd\nFRAME\nabc"), "") << "a frame's size is not known";
  EXPECT_EQ(end_of("YUV4MPEG2 W5\nFRAME\nabc"), "");
}

TEST(WholeVideo, TruncatedWithinAFrameOfYuv4MpegIsReported) {
  const TempFolder folder;
  FramePool pool(2);
  std::string file = "YUV4MPEG2 W16 H16 F25:1 C420jpeg\n";
  for (int i = 0; i < 5; ++i) file += "FRAME\n" + std::string(384, static_cast<char>(40 * i));

  const Reading whole = read_or_refusal(folder.write("a.y4m", file), pool);
  const Reading cut = read_or_refusal(folder.write("b.y4m", file.substr(0, file.size() - 100)), pool);

  EXPECT_EQ(whole.end, Status::kEnd) << whole.message;
  EXPECT_EQ(whole.frames, 5);
  EXPECT_EQ(cut.end, Status::kLost);
  EXPECT_EQ(cut.frames, 4);
  EXPECT_NE(cut.message.find("100 bytes of a frame are missing"), std::string::npos) << cut.message;
}

TEST(WholeVideo, InAnUnknownCodecIsNamed) {
  const TempFolder folder;
  ASSERT_TRUE(test::encode_video(folder / "a.mkv", "matroska", "mpeg4", 3));
  std::string bytes = test::bytes_of_file(folder / "a.mkv");
  bytes.replace(bytes.find("V_MPEG4/ISO/ASP"), 15, "V_NOBODY/KNOWS!");
  const std::string path = folder.write("b.mkv", bytes);
  FramePool pool(2);

  const Reading reading = read_or_refusal(path, pool);

  EXPECT_NE(reading.message.find(path), std::string::npos) << reading.message;
  EXPECT_NE(reading.message.find("codec that this FFmpeg does not know"), std::string::npos) << reading.message;
}

TEST(WholeVideo, WithoutAFrameIsReported) {
  const TempFolder folder;
  FramePool pool(2);

  const Reading reading = read_or_refusal(folder.write("a.gif", std::string("GIF89a\x08\0\x08\0\0\0\0;", 14)), pool);

  EXPECT_EQ(reading.end, Status::kLost);
  EXPECT_EQ(reading.frames, 0);
}

TEST(ContainerEnd, OfOtherFormatsIsUnknown) {
  const TempFolder folder;
  for (const std::string& bytes : {std::string(), std::string("words"), std::string(10'000, '\0')}) {
    const ContainerEnd end = container_end(folder.write("file", bytes));
    EXPECT_FALSE(end.is_whole);
    EXPECT_EQ(end.cut, "");
  }
  EXPECT_EQ(container_end(folder / "missing").cut, "");
}

}  // namespace
}  // namespace saccade
