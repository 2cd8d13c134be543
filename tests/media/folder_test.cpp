#include <gtest/gtest.h>

#include "media/file_kind.hpp"
#include "media/frame_reader.hpp"
#include "media/images.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::FramePool;
using test::RgbImage;
using test::TempFolder;

TEST(Folder, ImagesComeInTheOrderOfTheirNames) {
  const TempFolder folder;
  RgbImage small = test::flat(8, 8, 1, 2, 3);
  RgbImage large = test::flat(20, 10, 4, 5, 6);
  write_image(folder / "b_2.png", small.view());
  write_image(folder / "a_10.JPG", large.view());
  write_image(folder / "c.jpeg", small.view());
  folder.write("labels.json", "{}");
  std::filesystem::create_directory(folder / "folder.png");
  FramePool pool;

  const auto reader = open_reader(folder.string());
  ASSERT_EQ(reader->info().frames, 3);
  EXPECT_EQ(reader->info().width, 20);
  EXPECT_FALSE(reader->info().live);

  const char* names[] = {"a_10.JPG", "b_2.png", "c.jpeg"};
  const std::int64_t numbers[] = {10, 2, -1};
  for (int i = 0; i < 3; ++i) {
    const auto frame = reader->read(pool);
    ASSERT_TRUE(frame) << frame.failure().message;
    EXPECT_EQ(frame->name, names[i]);
    EXPECT_EQ(frame->image_id, numbers[i]);
    EXPECT_EQ(frame->sequence, i);
  }
  EXPECT_EQ(reader->read(pool).failure().status, Status::kEnd);
}

TEST(Folder, AnUnreadableImageIsSkippedAndCounted) {
  const TempFolder folder;
  RgbImage image = test::flat(8, 8, 1, 2, 3);
  folder.write("a.jpg", "no image");
  write_image(folder / "b.png", image.view());
  folder.write("c.png", "");
  FramePool pool;

  const auto reader = open_reader(folder.string());
  EXPECT_EQ(reader->info().width, 0);  // the first one's header is damaged
  const auto first = reader->read(pool);
  const auto second = reader->read(pool);
  const auto third = reader->read(pool);

  ASSERT_FALSE(first);
  EXPECT_EQ(first.failure().status, Status::kCorrupt);
  EXPECT_NE(first.failure().message.find("a.jpg"), std::string::npos) << first.failure().message;
  ASSERT_TRUE(second);
  EXPECT_EQ(second->sequence, 1);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.failure().message, "'" + folder / "c.png" + "' is empty (0 bytes)");
  EXPECT_EQ(reader->read(pool).failure().status, Status::kEnd);
}

TEST(Folder, WithoutImagesIsRefused) {
  const TempFolder folder;
  folder.write("notes.txt", "words");

  try {
    open_reader(folder.string());
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    EXPECT_NE(std::string(error.what()).find(folder.string()), std::string::npos);
  }
}

TEST(Folder, BuffersAreReusedAndGivenBack) {
  const TempFolder folder;
  RgbImage image = test::flat(16, 16, 1, 2, 3);
  for (int i = 0; i < 6; ++i) write_image(folder / (std::to_string(i) + ".png"), image.view());
  FramePool pool(1);

  const auto reader = open_reader(folder.string());
  const test::Reading reading = test::read_all(*reader, pool);

  EXPECT_EQ(reading.frames, 6);
  EXPECT_EQ(pool.allocations(), 1);
  EXPECT_EQ(pool.out(), 0U);
}

TEST(Folder, ReadsAfterCancelReturnCancelled) {
  const TempFolder folder;
  RgbImage image = test::flat(8, 8, 1, 2, 3);
  write_image(folder / "a.png", image.view());
  FramePool pool;
  const auto reader = open_reader(folder.string());

  reader->cancel();

  EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled);
}

TEST(Folder, ACancelledPoolCancelsTheRead) {
  const TempFolder folder;
  RgbImage image = test::flat(8, 8, 1, 2, 3);
  write_image(folder / "a.png", image.view());
  FramePool pool;
  const auto reader = open_reader(folder.string());

  pool.cancel();

  EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled);
}

TEST(NumberInName, IsWhatEndsTheStem) {
  EXPECT_EQ(number_in_name("/data/000000000139.jpg"), 139);
  EXPECT_EQ(number_in_name("COCO_val2014_000000000042.jpg"), 42);
  EXPECT_EQ(number_in_name("7.tar.png"), -1);
  EXPECT_EQ(number_in_name("bus.jpg"), -1);
  EXPECT_EQ(number_in_name("n01440764_tench.JPEG"), -1);
  EXPECT_EQ(number_in_name("99999999999999999999999.jpg"), -1);
}

TEST(OpenReader, KindsThatAreNotSupportedAreNamed) {
  for (const char* uri : {"s3://bucket/a.mp4", "ftp://host/a.mp4", "rtp://host:5004"}) {
    try {
      open_reader(uri);
      FAIL() << uri << " opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_NE(std::string(error.what()).find(uri), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("video file"), std::string::npos) << error.what();
    }
  }
}

TEST(OpenReader, AnEmptyNameIsNoCamera) {
  try {
    open_reader("");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("camera"), std::string::npos) << error.what();
  }
}

TEST(OpenReader, AModelInThePlaceOfASourceIsNamed) {
  const TempFolder folder;
  const std::string model = folder.write("m.onnx", "x");
  try {
    open_reader(model);
    FAIL() << model << " opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("is a model, not a source"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace saccade
