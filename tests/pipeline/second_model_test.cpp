#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "saccade/saccade.hpp"
#include "support/cpu_model.hpp"
#include "support/second_models.hpp"
#include "tensor/frame.hpp"

// A second model on the objects of a detector.
namespace saccade {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

/// An RGB image whose red is the column and whose green is the row, each times STEP.
struct RampImage {
  int step;
  std::vector<std::uint8_t> pixels;
  FrameView view;

  RampImage(int width, int height, int factor)
      : step(factor),
        pixels(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
        view(view_of(RgbView{pixels.data(), 3 * width, width, height})) {
    std::uint8_t* to = pixels.data();
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x, to += 3) {
        to[0] = static_cast<std::uint8_t>(step * x);
        to[1] = static_cast<std::uint8_t>(step * y);
      }
  }

  /// The mean red and green, 0 to 1, of COLUMNS x ROWS pixels from (X, Y) on, resized to 8x8 as OpenCV does: two
  /// samples per axis.
  std::array<float, 2> mean(int x, int y, int columns, int rows) const {
    const auto along = [this](int first, int count) {
      double sum = 0;
      for (int i = 0; i < 8; ++i) {
        const double at = std::clamp((i + 0.5) * count / 8 - 0.5, 0.0, count - 1.0);
        sum += first + at;
      }
      return static_cast<float>(step * sum / 8 / 255);
    };
    return {along(x, columns), along(y, rows)};
  }
};

class SecondModelTest : public testing::Test {
 protected:
  /// The boxes of the first model in the image are (2, 2)-(10, 6) with 0.9 and (0, 0)-(4, 2) with 0.4.
  Model model(const std::string& second, const std::string& keys = "") {
    return test::load_on_cpu(test::write_first_model(folder_, second, keys));
  }
  std::string refusal(const std::string& second) {
    try {
      FrameSession session(model(second));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static void expect_mean(std::span<const float> embedding, std::array<float, 2> mean) {
    // Pixels are rounded to 8 bits.
    EXPECT_THAT(embedding, ElementsAre(FloatNear(mean[0], 0.004F), FloatNear(mean[1], 0.004F), FloatNear(0, 1e-6F)));
  }

  test::TempFolder folder_;
  RampImage image_{16, 8, 10};
};

TEST_F(SecondModelTest, EmbedsTheCropOfEveryObject) {
  test::write_color_embedding(folder_);
  FrameSession session(model("embedding.onnx"));
  for (int i = 0; i < 2; ++i) {
    const Result& result = session.run(image_.view);
    ASSERT_EQ(result.detections.size(), 2U);
    EXPECT_EQ(result.uncropped, 0);
    expect_mean(result.detections[0].embedding, image_.mean(2, 2, 8, 4));
    expect_mean(result.detections[1].embedding, image_.mean(0, 0, 4, 2));
    EXPECT_TRUE(result.detections[0].classes.empty());
    EXPECT_TRUE(result.embedding.empty()) << "it is that of no frame";
    EXPECT_EQ(result.task, Task::kDetect);
    EXPECT_EQ(result.model, "boxes");
    EXPECT_FALSE(result.invalid());
    EXPECT_EQ(result.latency.total, result.latency.pre + result.latency.model + result.latency.post);
  }
}

TEST_F(SecondModelTest, AddsAMarginToEachBox) {
  test::write_color_embedding(folder_);
  FrameSession session(model("embedding.onnx", "margin = 0.25\n"));
  const Result& result = session.run(image_.view);
  expect_mean(result.detections[0].embedding, image_.mean(0, 1, 12, 6));
  expect_mean(result.detections[1].embedding, image_.mean(0, 0, 5, 3));
}

TEST_F(SecondModelTest, ClassifiesOnlyTheCardsClasses) {
  test::write_color_classifier(folder_);
  FrameSession session(model("color.onnx", "classes = [\"far\"]\n"));
  const Result& result = session.run(image_.view);
  EXPECT_TRUE(result.detections[0].classes.empty());
  ASSERT_EQ(result.detections[1].classes.size(), 3U);
  EXPECT_EQ(result.detections[1].classes[0].class_name, "red");
  EXPECT_NEAR(result.detections[1].classes[0].confidence, image_.mean(0, 0, 4, 2)[0], 0.004);
  EXPECT_EQ(result.uncropped, 0) << "an object of another class needs no crop";
}

TEST_F(SecondModelTest, ReadsTheTextOfEveryObject) {
  test::write_text_recognition(folder_);
  FrameSession session(model("reader.onnx", "shape = [1, 3, 8, 16]\n"));
  const Result& result = session.run(image_.view);
  ASSERT_EQ(result.detections.size(), 2U);
  for (const Detection& object : result.detections) {
    EXPECT_EQ(object.text, "ab");
    EXPECT_NEAR(object.text_confidence, 0.8, 1e-6) << "the mean of 0.9 and 0.7";
  }
  EXPECT_TRUE(result.text.empty()) << "it is that of no frame";
  const Result copy = result.clone();
  EXPECT_EQ(copy.detections[1].text, "ab");
  EXPECT_NE(copy.detections[1].text.data(), result.detections[1].text.data());
}

TEST_F(SecondModelTest, CountsObjectsWithoutACrop) {
  test::write_color_embedding(folder_);
  FrameSession session(model("embedding.onnx", "most = 1\n"));
  const Result& result = session.run(image_.view);
  EXPECT_EQ(result.detections[0].embedding.size(), 3U) << "the most confident one";
  EXPECT_TRUE(result.detections[1].embedding.empty());
  EXPECT_EQ(result.uncropped, 1);
}

TEST_F(SecondModelTest, RunsOnTheObjectsOfTiles) {
  test::write_color_embedding(folder_);
  const std::string path = test::write_first_model(folder_, "embedding.onnx");
  FrameSession session(test::load_on_cpu(path, {.tiles = TileOptions{.size = 32, .overlap = 0, .full_frame = false}}));
  const RampImage image(64, 32, 3);
  const Result& result = session.run(image.view);
  ASSERT_EQ(result.detections.size(), 4U);
  for (const Detection& object : result.detections) {
    const auto at = [&](std::size_t i) { return static_cast<int>(object.box.at(i)); };
    expect_mean(object.embedding, image.mean(at(0), at(1), at(2) - at(0), at(3) - at(1)));
  }
}

TEST_F(SecondModelTest, ReadsTheChromaOfACrop) {
  test::write_color_classifier(folder_);
  FrameSession session(model("color.onnx"));
  // Blue to the left, red from column 2 on; (2, 2)-(10, 6) is red.
  std::vector<std::uint8_t> luma(16 * 8, 80);
  std::vector<std::uint8_t> u(8 * 4, 90);
  std::vector<std::uint8_t> v(8 * 4, 240);
  for (std::size_t row = 0; row < 4; ++row) std::swap(u[8 * row], v[8 * row]);
  FrameView frame{.format = PixelFormat::kI420, .width = 16, .height = 8};
  frame.planes = {luma.data(), u.data(), v.data()};
  frame.pitch_bytes = {16, 8, 8};
  const Result& result = session.run(frame);
  EXPECT_EQ(result.detections[0].classes[0].class_name, "red");
}

TEST_F(SecondModelTest, CropsOrientedBoxesWithoutTheirRotation) {
  test::write_color_embedding(folder_);
  FrameSession session(test::load_on_cpu(test::write_row_detector(folder_, {4, 3.5F, 3, 2, 0.9F, 0, 0.5F}, 7,
                                                                  "\"yolo-e2e-obb\"", "model = \"embedding.onnx\"\n")));
  const RampImage image(32, 32, 7);
  for (int i = 0; i < 2; ++i) {
    const Result& result = session.run(image.view);
    ASSERT_EQ(result.detections.size(), 1U);
    ASSERT_TRUE(result.detections[0].oriented);
    EXPECT_NEAR(result.detections[0].oriented->angle, 0.5, 1e-6);
    // The mean of a ramp is its value at the centre.
    expect_mean(result.detections[0].embedding, {7 * 15.5F / 255, 7 * 13.5F / 255});
    EXPECT_EQ(result.uncropped, 0);
  }
}

TEST_F(SecondModelTest, AlignsFacesByTheirLandmarks) {
  test::write_color_embedding(folder_);
  // ArcFace's template, scaled to 8x8, enlarged threefold and moved to (4, 5); the detector sees a quarter of it.
  std::vector<float> rows = {1, 1, 7, 7, 0.9F, 0};
  for (const auto& [x, y] : {std::pair(38.2946F, 51.6963F),
                             {73.5318F, 51.5014F},
                             {56.0252F, 71.7366F},
                             {41.5493F, 92.3655F},
                             {70.7299F, 92.2041F}}) {
    rows.push_back((3 * x * 8 / 112 + 4) / 4);
    rows.push_back((3 * y * 8 / 112 + 5) / 4);
  }
  FrameSession session(test::load_on_cpu(test::write_row_detector(
      folder_, rows, 16, "\"yolo-e2e-pose\"\nkeypoints = 5", "model = \"embedding.onnx\"\nalign = \"five-points\"\n")));
  const RampImage image(32, 32, 7);
  const Result& result = session.run(image.view);
  ASSERT_EQ(result.detections.size(), 1U);
  ASSERT_EQ(result.detections[0].keypoints.size(), 5U);
  expect_mean(result.detections[0].embedding, {7 * (3 * 3.5F + 4) / 255, 7 * (3 * 3.5F + 5) / 255});
}

TEST_F(SecondModelTest, MarksTheFrameOfAnInvalidPrediction) {
  test::write_one_node(folder_, "nothing", "GlobalAveragePool", {}, "decoder = \"embed\"\n");
  FrameSession session(model("nothing.onnx"));
  std::vector<std::uint8_t> black(3 * 16 * 8, 0);
  EXPECT_TRUE(session.run(view_of(RgbView{black.data(), 3 * 16, 16, 8})).faults.has(Fault::kInvalidEmbedding));
  EXPECT_FALSE(session.run(image_.view).faults.has(Fault::kInvalidEmbedding));
}

TEST_F(SecondModelTest, IsPartOfItsModelInAPipeline) {
  test::write_color_embedding(folder_);
  Pipeline pipeline(Source::open("synthetic:?size=64x32&seed=1"), model("embedding.onnx"), {.max_frames = 5});
  int frames = 0;
  for (const Result& result : pipeline) {
    ++frames;
    EXPECT_EQ(result.model_index, 0);
    for (const Detection& object : result.detections) EXPECT_EQ(object.embedding.size(), 3U);
    const Result kept = result.clone();
    EXPECT_EQ(kept.detections.at(0).embedding.size(), 3U);
    EXPECT_NE(kept.detections[0].embedding.data(), result.detections[0].embedding.data());
  }
  EXPECT_EQ(frames, 5);
  const Summary summary = pipeline.summary();
  EXPECT_EQ(summary.models, std::vector<std::string>{"boxes"});
  EXPECT_EQ(summary.ledger.processed, 5);
}

TEST_F(SecondModelTest, IsRefusedIfItDoesNotFit) {
  test::write_color_embedding(folder_);
  test::write_first_model(folder_, "embedding.onnx", "", "chain");
  EXPECT_THAT(refusal("chain.onnx"), HasSubstr("chain.onnx has a second model of its own, embedding.onnx"));
  test::write_box_detector(folder_, "again");
  EXPECT_THAT(refusal("again.onnx"), HasSubstr("again.onnx is for the task detect"));
  test::write_one_node(folder_, "regional", "GlobalAveragePool", {}, "decoder = \"embed\"\n");
  folder_.write("regional.toml", "[input]\nroi = [0, 0, 4, 4]\n[output]\ndecoder = \"embed\"\n");
  EXPECT_THAT(refusal("regional.onnx"), HasSubstr("remove 'input.roi' from its card"));
  onnx_writer::Model file(13);
  file.input("x", {2, 2}).output("y");
  file.node({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}});
  file.save(folder_ / "neg.onnx");
  EXPECT_THAT(refusal("neg.onnx"), HasSubstr("neg.onnx is not recognised: give it a card"));
  folder_.write("text.onnx", "this is not a model");
  EXPECT_THAT(refusal("text.onnx"), HasSubstr("text.onnx"));
}

}  // namespace
}  // namespace saccade
