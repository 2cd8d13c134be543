#include <gtest/gtest.h>

#include <filesystem>

#include "media/frame_reader.hpp"
#include "saccade/error.hpp"
#include "saccade/sinks.hpp"
#include "support/scripted_source.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

/// A folder of images that differ only in their extension, a scene that ends and one that does not.
class DrawnSinkTest : public testing::Test {
 protected:
  DrawnSinkTest() {
    std::filesystem::create_directory(folder_ / "shots");
    for (const char* name : {"shots/a.jpg", "shots/a.png"}) write_image(folder_ / name, frame());
    sources_ = {Source::open(folder_ / "shots"), Source::open("synthetic:?frames=2&size=32x16"),
                Source::open("synthetic:?size=32x16")};
  }

  FrameView frame() { return view_of(RgbView{pixels_.data(), 3 * 32, 32, 16}); }

  void write(Sink& sink, int stream, std::int64_t number, std::string_view name) {
    Result result;
    result.stream = stream;
    result.frame = number;
    result.name = name;
    result.width = 32;
    result.height = 16;
    sink.write(result, frame());
  }

  /// Draws two images, then a frame of each scene. Returns the folders.
  std::vector<std::string> draw(bool endless) {
    const auto sink = open_drawn(folder_ / "out", sources_, endless);
    EXPECT_TRUE(sink->folders().empty()) << "before the first frame";
    write(*sink, 0, 0, "a.jpg");
    write(*sink, 0, 1, "a.png");
    write(*sink, 1, 0, {});
    write(*sink, 2, 0, {});
    sink->close({});
    return sink->folders();
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  test::TempFolder folder_;
  std::vector<std::uint8_t> pixels_ = std::vector<std::uint8_t>(3 * 32 * 16);
  std::vector<Source> sources_;
};

TEST_F(DrawnSinkTest, MakesAFolderPerSource) {
  EXPECT_EQ(draw(false), (std::vector<std::string>{folder_ / "out/shots", folder_ / "out/synthetic"}));
  for (const char* name : {"out/shots/a.jpg", "out/shots/a.png.jpg", "out/synthetic/synthetic.mp4"})
    EXPECT_TRUE(exists(name)) << name;
}

TEST_F(DrawnSinkTest, AStreamsFolderHasItsHostAndPath) {
  sources_ = {test::scripted_source("rtsp://admin:***@10.0.0.7:554/a/../b?channel=1", test::frames(1)),
              test::scripted_source("udp://@:1234", test::frames(1))};
  const auto sink = open_drawn(folder_ / "out", sources_, true);
  write(*sink, 0, 0, {});
  write(*sink, 1, 0, {});
  sink->close({});
  EXPECT_EQ(sink->folders(), (std::vector<std::string>{folder_ / "out/10.0.0.7-554-a-..-b", folder_ / "out/1234"}));
}

TEST_F(DrawnSinkTest, DrawsASourceWithoutEndOnlyOnRequest) {
  EXPECT_EQ(draw(true).size(), 3U);
  EXPECT_TRUE(exists("out/synthetic-2/synthetic.mp4"));
}

TEST_F(DrawnSinkTest, FoldersDoNotDependOnWhoseFrameIsFirst) {
  const auto sink = open_drawn(folder_ / "out", sources_, true);
  write(*sink, 2, 0, {});
  EXPECT_EQ(sink->folders(), (std::vector<std::string>{folder_ / "out/synthetic-2"}));
  write(*sink, 1, 0, {});
  write(*sink, 0, 0, "a.jpg");
  sink->close({});
  EXPECT_EQ(sink->folders(),
            (std::vector<std::string>{folder_ / "out/shots", folder_ / "out/synthetic", folder_ / "out/synthetic-2"}));
}

TEST_F(DrawnSinkTest, FramesOfAnotherSizeThanTheFirstHaveFailed) {
  const auto sink = open_drawn(folder_ / "out", sources_, false);
  write(*sink, 1, 0, {});
  Result small;
  small.stream = 1;
  small.frame = 1;
  sink->write(small, view_of(RgbView{pixels_.data(), 3 * 16, 16, 16}));
  EXPECT_EQ(sink->failed(), 0);
  EXPECT_THROW(sink->close({}), Error);
  EXPECT_EQ(sink->failed(), 1);
}

TEST_F(DrawnSinkTest, LeavesOlderFoldersAlone) {
  draw(false);
  const std::string before = test::bytes_of_file(folder_ / "out/shots/a.jpg");
  pixels_.assign(pixels_.size(), 200);
  EXPECT_EQ(draw(false).front(), folder_ / "out/shots-2");
  EXPECT_EQ(test::bytes_of_file(folder_ / "out/shots/a.jpg"), before);
}

TEST_F(DrawnSinkTest, NamesAFolderThatCanNotBeMade) {
  folder_.write("out", "a file");
  try {
    draw(false);
    FAIL() << "a file is in the way";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_NE(std::string_view(error.what()).find("--no-save"), std::string_view::npos) << error.what();
  }
}

}  // namespace
}  // namespace saccade
