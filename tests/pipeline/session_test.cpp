#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "saccade/saccade.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

class SessionTest : public testing::Test {
 protected:
  SessionTest() : model_(Model::load(test::write_color_classifier(folder_))) {}

  static Tensor picture(float red, float green, float blue) {
    Tensor tensor(DType::kFloat32, {1, 3, 8, 8});
    const auto elements = tensor.data<float>();
    for (std::size_t i = 0; i < 64; ++i) {
      elements[i] = red;
      elements[64 + i] = green;
      elements[128 + i] = blue;
    }
    return tensor;
  }

  test::TempFolder folder_;
  Model model_;
};

TEST_F(SessionTest, ModelSaysWhatItTakesAndGives) {
  EXPECT_EQ(model_.name(), "color");
  ASSERT_EQ(model_.inputs().size(), 1U);
  EXPECT_EQ(model_.inputs()[0].name, "image");
  EXPECT_EQ(model_.inputs()[0].shape, (Shape{1, 3, 8, 8}));
  EXPECT_EQ(model_.outputs()[0].name, "scores");
  EXPECT_EQ(model_.outputs()[0].shape, (Shape{1, 3}));
  EXPECT_EQ(model_.task(), Task::kClassify);
  EXPECT_EQ(model_.labels()[2], "blue");
}

TEST_F(SessionTest, RunsOnTensors) {
  Session session(model_);
  const std::vector<Tensor> outputs = session.run(std::array{picture(0.25F, 0.5F, 1)});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_FLOAT_EQ(outputs[0].data<float>()[0], 0.25F);
  EXPECT_FLOAT_EQ(outputs[0].data<float>()[1], 0.5F);
  EXPECT_FLOAT_EQ(outputs[0].data<float>()[2], 1);
}

TEST_F(SessionTest, SessionsOfOneModelRunSideBySide) {
  const auto work = [this](float red, float& worst) {
    Session session(model_);
    for (int i = 0; i < 200; ++i)
      worst = std::max(worst, std::abs(session.run(std::array{picture(red, 0, 0)})[0].data<float>()[0] - red));
  };
  float worst_a = 0;
  float worst_b = 0;
  std::thread other(work, 0.25F, std::ref(worst_a));
  work(0.75F, worst_b);
  other.join();
  EXPECT_LT(worst_a, 1e-6F);
  EXPECT_LT(worst_b, 1e-6F);
}

TEST_F(SessionTest, RefusesWhatDoesNotFit) {
  Session session(model_);
  EXPECT_THROW(session.run({}), Error);
  EXPECT_THROW(session.run(std::array{Tensor()}), Error);
  EXPECT_THROW(session.run(std::array{Tensor(DType::kFloat32, {1, 3, 8, 9})}), Error);
  EXPECT_THROW(session.run(std::array{Tensor(DType::kFloat64, {1, 3, 8, 8})}), Error);
}

TEST_F(SessionTest, BindsASymbolicDimension) {
  onnx_writer::Model symbolic(13);
  symbolic.input("x", {"batch", 2}).output("y");
  symbolic.node({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}});
  symbolic.save(folder_ / "neg.onnx");
  EXPECT_EQ(Model::load(folder_ / "neg.onnx").inputs()[0].shape, (Shape{1, 2}));
  ModelOptions options;
  options.dimensions = {{"batch", 3}};
  EXPECT_EQ(Model::load(folder_ / "neg.onnx", options).inputs()[0].shape, (Shape{3, 2}));
}

TEST_F(SessionTest, RefusesOptionsThatMakeNoSense) {
  const auto load = [this](auto change) {
    ModelOptions options;
    change(options);
    Model::load(folder_ / "color.onnx", options);
  };
  EXPECT_THROW(load([](ModelOptions& o) { o.device = "cuda"; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.precision = "int8"; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.threads = -1; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.confidence = NAN; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.iou = 2; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.max_detections = 0; }), Error);
}

}  // namespace
}  // namespace saccade
