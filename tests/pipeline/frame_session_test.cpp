#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "saccade/saccade.hpp"
#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

/// An image of one colour, with a pitch of PADDING bytes more than a row.
struct OneColor {
  std::vector<std::uint8_t> pixels;
  FrameView view;

  OneColor(int width, int height, std::array<std::uint8_t, 3> rgb, int padding = 0) {
    const int pitch = 3 * width + padding;
    pixels.assign(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(height), 77);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) std::ranges::copy(rgb, pixels.begin() + y * pitch + 3 * x);
    view = {.format = PixelFormat::kRgb24, .width = width, .height = height};
    view.planes[0] = pixels.data();
    view.pitch_bytes[0] = pitch;
  }
};

class FrameSessionTest : public testing::Test {
 protected:
  test::TempFolder folder_;
};

TEST_F(FrameSessionTest, FindsBoxesInTheFramesPixels) {
  FrameSession session(test::load_on_cpu(test::write_box_detector(folder_)));
  for (const int width : {16, 32}) {
    const OneColor image(width, 8, {1, 2, 3});
    const Result& result = session.run(image.view);
    EXPECT_EQ(result.model, "boxes");
    EXPECT_EQ(result.frame, width == 16 ? 0 : 1);
    EXPECT_EQ(result.width, width);
    ASSERT_EQ(result.detections.size(), 2U);
    const auto scale = static_cast<float>(width) / 8;
    EXPECT_EQ(result.detections[0].box, (std::array<float, 4>{1 * scale, 2, 5 * scale, 6}));
    EXPECT_EQ(result.detections[0].class_name, "near");
    EXPECT_EQ(result.latency.total, result.latency.pre + result.latency.model + result.latency.post);
    EXPECT_GT(result.latency.total.count(), 0);
  }
}

TEST_F(FrameSessionTest, ReadsThePixels) {
  FrameSession session(test::load_on_cpu(test::write_color_classifier(folder_)));
  for (const std::size_t channel : {0U, 1U, 2U}) {
    std::array<std::uint8_t, 3> rgb{};
    rgb.at(channel) = 255;
    const OneColor image(20, 10, rgb, 5);
    const Result& result = session.run(image.view);
    ASSERT_FALSE(result.classes.empty());
    EXPECT_EQ(result.classes[0].class_id, static_cast<int>(channel));
    EXPECT_NEAR(result.classes[0].confidence, 1, 1e-5);
  }
}

TEST_F(FrameSessionTest, SessionsOfOneModelRunConcurrently) {
  const Model model = test::load_on_cpu(test::write_color_classifier(folder_));
  const auto work = [&model](std::size_t channel, int& correct) {
    std::array<std::uint8_t, 3> rgb{};
    rgb.at(channel) = 255;
    const OneColor image(20, 10, rgb);
    FrameSession session(model);
    for (int i = 0; i < 50; ++i) correct += session.run(image.view).classes.at(0).class_id == static_cast<int>(channel);
  };
  int red = 0;
  int blue = 0;
  std::thread other(work, 0, std::ref(red));
  work(2, blue);
  other.join();
  EXPECT_EQ(red, 50);
  EXPECT_EQ(blue, 50);
}

TEST_F(FrameSessionTest, RefusesInvalidFrames) {
  FrameSession session(test::load_on_cpu(test::write_box_detector(folder_)));
  const OneColor image(16, 8, {1, 2, 3});
  const auto refusal = [&](auto change) {
    FrameView frame = image.view;
    change(frame);
    try {
      session.run(frame);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal([](FrameView& f) { f.width = 0; }), HasSubstr("0x8"));
  EXPECT_THAT(refusal([](FrameView& f) { f.height = 1 << 29; }), HasSubstr("16x536870912"));
  EXPECT_THAT(refusal([](FrameView& f) { f.planes[0] = nullptr; }), HasSubstr("plane 0 of a rgb24 frame"));
  EXPECT_THAT(refusal([](FrameView& f) { f.pitch_bytes[0] = 47; }), HasSubstr("47 bytes, but a row has 48"));
  EXPECT_THAT(refusal([](FrameView& f) { f.memory = MemoryKind::kDevice; }), HasSubstr("on the host"));
  EXPECT_EQ(session.run(image.view).detections.size(), 2U) << "the session is still usable";
}

TEST_F(FrameSessionTest, NeedsARecognisedModel) {
  onnx_writer::Model file(13);
  file.input("x", {2, 2}).output("y");
  file.node({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}});
  file.save(folder_ / "neg.onnx");
  EXPECT_THROW(FrameSession(test::load_on_cpu(folder_ / "neg.onnx")), Error);
}

}  // namespace
}  // namespace saccade
