#include "saccade/image.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "media/convert.hpp"
#include "media/frame_reader.hpp"
#include "media/images.hpp"
#include "saccade/error.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

/// A frame of FORMAT whose samples all differ from their neighbours'.
struct PatternFrame {
  std::vector<std::uint8_t> samples;
  FrameView view;

  PatternFrame(PixelFormat format, int width, int height) : samples(frame_bytes(format, width, height)) {
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint8_t>(i * 37 + i / 64);
    const FrameBuffer buffer{reinterpret_cast<std::byte*>(samples.data()), samples.size(), MemoryKind::kPlain};
    view = lay_out(buffer, format, width, height);
    view.matrix = ColorMatrix::kBt709;
  }
};

TEST(Image, IsConvertedFromEveryFormat) {
  for (const PixelFormat format : kPixelFormats) {
    SCOPED_TRACE(to_string(format));
    const PatternFrame frame(format, 7, 5);
    std::vector<std::uint8_t> expected(7 * 5 * 3);
    to_rgb(frame.view, {expected.data(), 7 * 3, 7, 5});

    const saccade::Image rgb = convert(frame.view, PixelFormat::kRgb24);
    EXPECT_EQ(rgb.pitch_bytes(), 21);
    EXPECT_TRUE(std::ranges::equal(rgb.samples(), expected));
    const saccade::Image bgr = convert(frame.view, PixelFormat::kBgr24);
    for (std::size_t i = 0; i < expected.size(); i += 3) std::swap(expected[i], expected[i + 2]);
    EXPECT_TRUE(std::ranges::equal(bgr.samples(), expected));
    // What was converted is a frame again.
    EXPECT_TRUE(std::ranges::equal(convert(bgr.view(), PixelFormat::kRgb24).samples(), rgb.samples()));
  }
}

TEST(Image, ACopyIsDeep) {
  saccade::Image image(PixelFormat::kGray8, 3, 2);
  EXPECT_EQ(image.samples().size(), 6U);
  EXPECT_EQ(image.samples()[0], 0);
  const saccade::Image copy = image;
  image.samples()[0] = 1;
  EXPECT_EQ(copy.samples()[0], 0);
  EXPECT_TRUE(saccade::Image().empty());
}

TEST(Image, RefusesWhatItCannotHold) {
  EXPECT_THROW(saccade::Image(PixelFormat::kI420, 4, 4), Error);
  EXPECT_THROW(saccade::Image(PixelFormat::kRgb24, 0, 4), Error);
  EXPECT_THROW(saccade::Image(PixelFormat::kRgb24, 4, -1), Error);
}

TEST(Image, RefusesFramesThatCannotBeRead) {
  const PatternFrame frame(PixelFormat::kI420, 4, 4);
  EXPECT_THROW(convert(frame.view, PixelFormat::kNv12), Error);
  FrameView damaged = frame.view;
  damaged.planes[2] = nullptr;
  EXPECT_THROW(convert(damaged, PixelFormat::kRgb24), Error);
  damaged = frame.view;
  damaged.pitch_bytes[1] = 1;
  EXPECT_THROW(convert(damaged, PixelFormat::kRgb24), Error);
  damaged = frame.view;
  damaged.memory = MemoryKind::kDevice;
  EXPECT_THROW(convert(damaged, PixelFormat::kRgb24), Error);
  EXPECT_THROW(convert(FrameView{}, PixelFormat::kRgb24), Error);
}

TEST(Image, AFileIsReadAsASourceReadsIt) {
  const test::TempFolder folder;
  const test::RgbImage pixels = test::gradient(37, 21);
  for (const char* name : {"image.jpg", "image.png"}) {
    SCOPED_TRACE(name);
    const std::string path = folder / name;
    test::RgbImage source = pixels;
    write_image(path, source.view());
    test::FramePool pool;
    const auto reader = open_reader(path);
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);

    const saccade::Image rgb = load_image(path);
    EXPECT_EQ(rgb.format(), PixelFormat::kRgb24);
    EXPECT_TRUE(std::ranges::equal(rgb.samples(), convert(frame->view, PixelFormat::kRgb24).samples()));
    const saccade::Image bgr = load_image(path, PixelFormat::kBgr24);
    EXPECT_TRUE(std::ranges::equal(bgr.samples(), convert(frame->view, PixelFormat::kBgr24).samples()));
  }
}

TEST(Image, BytesAreDecodedAsTheirFile) {
  const test::TempFolder folder;
  test::RgbImage pixels = test::gradient(37, 21);
  const auto message_of = [](std::string_view file, std::int64_t most = 1 << 20) -> std::string {
    try {
      (void)decode_image({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, PixelFormat::kRgb24, most);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
      return error.what();
    }
    return "no error";
  };
  for (const char* name : {"image.jpg", "image.png"}) {
    SCOPED_TRACE(name);
    write_image(folder / name, pixels.view());
    const std::string file = test::bytes_of_file(folder / name);
    const saccade::Image image =
        decode_image({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, PixelFormat::kBgr24);
    EXPECT_EQ(std::pair(image.width(), image.height()), std::pair(37, 21));
    EXPECT_TRUE(std::ranges::equal(image.samples(), load_image(folder / name, PixelFormat::kBgr24).samples()));
    EXPECT_EQ(message_of(file, 37 * 21), "no error");
    EXPECT_EQ(message_of(file, 37 * 21 - 1), "the image declares 37x21 pixels, more than the limit of 776");
    EXPECT_TRUE(message_of(std::string_view(file).substr(0, file.size() / 2)).starts_with("the image is damaged"));
  }
  EXPECT_EQ(message_of(""), "the image is neither a JPEG nor a PNG file");
  EXPECT_EQ(message_of(std::string(3000, 'x')), "the image is neither a JPEG nor a PNG file");
}

TEST(Image, ThatIsSavedAsPngIsReadBack) {
  const test::TempFolder folder;
  saccade::Image image(PixelFormat::kBgr24, 5, 3);
  for (std::size_t i = 0; i < image.samples().size(); ++i) image.samples()[i] = static_cast<std::uint8_t>(5 * i);
  save_image(folder / "image.png", image);
  EXPECT_TRUE(std::ranges::equal(load_image(folder / "image.png", PixelFormat::kBgr24).samples(), image.samples()));
}

TEST(Image, IsEncodedAsTheFileThatIsSaved) {
  const test::TempFolder folder;
  test::RgbImage pixels = test::gradient(37, 21);
  const saccade::Image image = convert(pixels.view(), PixelFormat::kBgr24);
  save_image(folder / "image.jpg", image);
  EXPECT_EQ(encode_jpeg(image), test::bytes_of_file(folder / "image.jpg"));
  EXPECT_LT(encode_jpeg(image, 10).size(), encode_jpeg(image, 95).size());
  for (const int quality : {0, 101}) EXPECT_THROW((void)encode_jpeg(image, quality), Error);
  EXPECT_THROW((void)encode_jpeg(saccade::Image(PixelFormat::kGray8, 4, 4)), Error);
}

TEST(Image, FilesThatAreNoImagesAreRefused) {
  const test::TempFolder folder;
  const auto message_of = [](const std::string& path) -> std::string {
    try {
      (void)load_image(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  folder.write("text.jpg", "no image");
  EXPECT_NE(message_of(folder / "text.jpg").find("text.jpg' is no image"), std::string::npos);
  EXPECT_NE(message_of(folder / "missing.jpg").find("missing.jpg"), std::string::npos);
  EXPECT_NE(message_of(folder / "").find(std::string(folder / "")), std::string::npos);
  folder.write("damaged.png", "\x89PNG\r\n\x1a\n and no more");
  EXPECT_NE(message_of(folder / "damaged.png").find("damaged.png"), std::string::npos);
}

}  // namespace
}  // namespace saccade
