#include "media/source_list.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/processors.hpp"
#include "media/images.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::TempFolder;

void write_png(const std::string& path) {
  test::RgbImage image = test::flat(8, 8, 1, 2, 3);
  write_image(path, image.view());
}

void write_mp4(const std::string& path) {
  const auto writer = open_video_writer(path, 25);
  test::RgbImage image = test::flat(64, 32, 1, 2, 3);
  for (int i = 0; i < 2; ++i) writer->write(image.view(), i * 40'000'000LL);
  writer->close();
}

/// The number of images of each source that URIS open; 0: a video.
std::vector<std::size_t> images_of(const std::vector<std::string>& uris) {
  std::vector<std::size_t> counts;
  for (const auto& reader : open_readers(uris)) counts.push_back(reader->info().files.size());
  return counts;
}

using Counts = std::vector<std::size_t>;

TEST(SourceList, JoinsImagesOfOneFolderThatFollowEachOther) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "other");
  for (const char* name : {"a.png", "b.png", "other/c.png"}) write_png(folder / name);
  write_mp4(folder / "v.mp4");
  const std::string a = folder / "a.png";
  const std::string b = folder / "b.png";
  EXPECT_EQ(images_of({a}), (Counts{1}));
  EXPECT_EQ(images_of({b, a}), (Counts{2}));
  EXPECT_EQ(open_readers(std::vector{b, a}).front()->info().files, (std::vector{b, a})) << "in the given order";
  EXPECT_EQ(images_of({a, folder / "other/c.png", b}), (Counts{1, 1, 1}));
  EXPECT_EQ(images_of({a, folder / "v.mp4", b}), (Counts{1, 0, 1}));
  EXPECT_EQ(images_of({a, "synthetic:?frames=1"}), (Counts{1, 0}));
}

std::string write_list(const TempFolder& folder, const std::string& text) {
  const std::string path = folder / "sources.txt";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(SourceList, AFileListsSources) {
  const TempFolder folder;
  const std::string path =
      write_list(folder, "# rtsp://not/this\n\n  rtsp://host/a#timeout=2s \r\n\t\nsynthetic:?frames=1\n#\na b.mp4");
  const std::vector<ListedSource> listed = list_sources(path);
  ASSERT_EQ(listed.size(), 3U);
  EXPECT_EQ(listed[0].uri, "rtsp://host/a#timeout=2s");
  EXPECT_EQ(listed[0].place, path + ":3");
  EXPECT_EQ(listed[1].uri, "synthetic:?frames=1");
  EXPECT_EQ(listed[1].place, path + ":5");
  EXPECT_EQ(listed[2].uri, "a b.mp4");
  EXPECT_EQ(listed[2].place, path + ":7");
}

TEST(SourceList, AFileWithoutSourcesIsAnError) {
  const TempFolder folder;
  for (const std::string text : {"", "\n", "# only a comment\n"})
    EXPECT_THROW(list_sources(write_list(folder, text)), Error);
  EXPECT_THROW(list_sources(write_list(folder, std::string("a\0b", 3))), Error);
  EXPECT_THROW(list_sources(write_list(folder, std::string((1 << 20) + 1, 'a'))), Error);
  EXPECT_THROW(list_sources(folder / "missing.txt"), Error);
}

TEST(SourceList, AnErrorNamesTheLineOfASource) {
  const TempFolder folder;
  write_png(folder / "a.png");
  const std::string path =
      write_list(folder, (folder / "a.png") + "\n" + (folder / "a.png") + "\n\n" + (folder / "missing.png") + "\n");
  try {
    open_listed(list_sources(path));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find(path + ":4: "), 0U) << error.what();
  }
  const auto readers = open_listed(list_sources(write_list(folder, (folder / "a.png") + "\n" + (folder / "a.png"))));
  EXPECT_EQ(readers.size(), 2U) << "a source per line";
}

TEST(SourceList, ExpandsPatterns) {
  const TempFolder folder;
  for (const char* name : {"a1.png", "a2.png", "b1.png", "[x].png"}) write_png(folder / name);
  EXPECT_EQ(images_of({folder / "a*.png"}), (Counts{2}));
  EXPECT_EQ(images_of({folder / "?1.png"}), (Counts{2}));
  EXPECT_EQ(images_of({folder / "[ab]2.png"}), (Counts{1}));
  EXPECT_EQ(images_of({folder / "[x].png"}), (Counts{1})) << "a file of that name is no pattern";
  try {
    images_of({folder / "c*.png"});
    FAIL() << "a pattern without a match";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("c*.png"), std::string::npos) << error.what();
  }
}

TEST(SourceList, AFolderGivesItsImagesAndEachVideo) {
  const TempFolder folder;
  for (const char* name : {"videos", "mixed", "empty"}) std::filesystem::create_directory(folder / name);
  for (const char* name : {"videos/b.mp4", "videos/a.mp4", "mixed/v.mp4"}) write_mp4(folder / name);
  for (const char* name : {"mixed/1.png", "mixed/2.png"}) write_png(folder / name);
  EXPECT_EQ(images_of({folder / "videos"}), (Counts{0, 0}));
  EXPECT_EQ(open_readers(std::vector<std::string>{folder / "videos"}).front()->info().name, folder / "videos/a.mp4");
  std::filesystem::create_symlink("loop", folder / "mixed/loop");
  EXPECT_EQ(images_of({folder / "mixed"}), (Counts{2, 0}));
  try {
    images_of({folder / "empty"});
    FAIL() << "an empty folder";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("empty' has no image and no video"), std::string::npos) << error.what();
  }
}

/// The threads of this process.
std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

/// A folder and a pattern have as many threads as the same videos one by one.
TEST(SourceList, VideosBeyondTheProcessorsHaveOneThreadEach) {
  const TempFolder folder;
  std::vector<std::string> videos;
  for (int i = 0; i <= available_processors(); ++i) {
    videos.push_back(folder / fmt::format("{}.mp4", i));
    write_mp4(videos.back());
  }
  const auto threads_of = [](const std::vector<std::string>& uris) {
    const std::ptrdiff_t before = threads();
    const auto readers = open_readers(uris);
    return threads() - before;
  };
  const std::ptrdiff_t one = threads_of({videos.front()});
  ASSERT_GT(one, 1) << "a video alone is decoded by two threads";
  const std::ptrdiff_t each = threads_of(videos);
  EXPECT_LT(each, one * std::ssize(videos));
  EXPECT_EQ(threads_of({folder / "*.mp4"}), each);
  EXPECT_EQ(threads_of({folder / "."}), each);
}

TEST(SourceList, HasALimit) {
  const std::vector<std::string> scenes(kMostSources + 1, "synthetic:?frames=1");
  EXPECT_THROW(open_readers(scenes), Error);
}

}  // namespace
}  // namespace saccade
