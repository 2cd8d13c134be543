#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "saccade/saccade.hpp"
#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

class SessionTest : public testing::Test {
 protected:
  SessionTest() : model_(test::load_on_cpu(test::write_color_classifier(folder_))) {}

  static Tensor solid_image(float red, float green, float blue) {
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
  const std::vector<Tensor> outputs = session.run(std::array{solid_image(0.25F, 0.5F, 1)});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_FLOAT_EQ(outputs[0].data<float>()[0], 0.25F);
  EXPECT_FLOAT_EQ(outputs[0].data<float>()[1], 0.5F);
  EXPECT_FLOAT_EQ(outputs[0].data<float>()[2], 1);
}

TEST_F(SessionTest, SessionsOfOneModelRunSideBySide) {
  const auto work = [this](float red, float& worst) {
    Session session(model_);
    for (int i = 0; i < 200; ++i)
      worst = std::max(worst, std::abs(session.run(std::array{solid_image(red, 0, 0)})[0].data<float>()[0] - red));
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

/// A buffer over the elements of a vector.
InputBuffer input_of(const std::vector<float>& elements, const Shape& shape) {
  return {elements.data(), DType::kFloat32, shape};
}

template <typename T>
OutputBuffer output_of(std::vector<T>& elements) {
  return {elements.data(), elements.size() * sizeof(T), DTypeOf<T>::value, {}};
}

TEST_F(SessionTest, RunsInTheCallersMemory) {
  Session session(model_);
  std::vector<float> image(192, 0.5F);
  std::vector<float> scores(5, -7);  // larger than needed, and not aligned
  std::array outputs{OutputBuffer{scores.data() + 1, 3 * sizeof(float), DType::kFloat32, {}}};
  session.run(std::array{input_of(image, {1, 3, 8, 8})}, outputs);
  EXPECT_EQ(outputs[0].shape, (Shape{1, 3}));
  EXPECT_THAT(scores,
              testing::ElementsAre(-7, testing::FloatEq(0.5F), testing::FloatEq(0.5F), testing::FloatEq(0.5F), -7));
}

TEST_F(SessionTest, SubmitCopiesItsInputs) {
  Session session(model_);
  std::vector<float> image(192, 0.25F);
  session.submit(std::array{input_of(image, {1, 3, 8, 8})});
  std::ranges::fill(image, 1.0F);
  std::vector<float> scores(3);
  std::array outputs{output_of(scores)};
  session.wait(outputs);
  EXPECT_THAT(scores, testing::Each(testing::FloatEq(0.25F)));
}

TEST_F(SessionTest, SubmitAndWaitAlternate) {
  Session session(model_);
  const std::vector<float> image(192, 0.25F);
  const std::array inputs{input_of(image, {1, 3, 8, 8})};
  std::vector<float> scores(3);
  std::array outputs{output_of(scores)};
  EXPECT_THROW(session.wait(outputs), Error);
  session.submit(inputs);
  EXPECT_THROW(session.submit(inputs), Error);
  EXPECT_THROW(session.run(std::array{solid_image(0, 0, 0)}), Error);
  EXPECT_THROW(session.wait({}), Error);
  session.wait(outputs);  // the run is still there
  EXPECT_THAT(scores, testing::Each(testing::FloatEq(0.25F)));
  EXPECT_THROW(session.wait(outputs), Error);
}

TEST_F(SessionTest, RefusesBuffersThatDoNotFit) {
  Session session(model_);
  const std::vector<float> image(192);
  std::vector<float> scores(3);
  const InputBuffer input = input_of(image, {1, 3, 8, 8});
  const OutputBuffer output = output_of(scores);
  const auto run = [&session](InputBuffer in, OutputBuffer out) {
    std::array outputs{out};
    session.run(std::array{in}, outputs);
  };
  EXPECT_THROW(run({nullptr, input.dtype, input.shape}, output), Error);
  EXPECT_THROW(run({input.data, DType::kInt32, input.shape}, output), Error);
  EXPECT_THROW(run({input.data, input.dtype, {1, 3, 8, 9}}, output), Error);
  EXPECT_THROW(run(input, {output.data, output.bytes - 1, output.dtype, {}}), Error);
  EXPECT_THROW(run(input, {nullptr, output.bytes, output.dtype, {}}), Error);
  EXPECT_THROW(run(input, {output.data, output.bytes, DType::kInt32, {}}), Error);
  EXPECT_THROW(session.run(std::array{input}, {}), Error);
  run(input, output);  // a refused run was not begun
}

TEST_F(SessionTest, BindsASymbolicDimension) {
  onnx_writer::Model symbolic(13);
  symbolic.input("x", {"batch", 2}).output("y");
  symbolic.node({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}});
  symbolic.save(folder_ / "neg.onnx");
  EXPECT_EQ(test::load_on_cpu(folder_ / "neg.onnx").inputs()[0].shape, (Shape{1, 2}));
  ModelOptions options;
  options.dimensions = {{"batch", 3}};
  EXPECT_EQ(test::load_on_cpu(folder_ / "neg.onnx", options).inputs()[0].shape, (Shape{3, 2}));
}

TEST_F(SessionTest, RefusesInvalidOptions) {
  const auto load = [this](auto change) {
    ModelOptions options{.device = Device::cpu()};
    change(options);
    Model::load(folder_ / "color.onnx", options);
  };
  EXPECT_THROW(load([](ModelOptions& o) { o.device = Device::cuda(); }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.precision = Precision::kFp16; }), Error) << "on the CPU";
  EXPECT_THROW(load([](ModelOptions& o) { o.threads = -1; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.post.confidence = NAN; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.post.iou = 2; }), Error);
  EXPECT_THROW(load([](ModelOptions& o) { o.post.max_detections = 0; }), Error);
}

TEST(Session, CutsOutputsToTheirSizes) {
  const test::TempFolder folder;
  onnx_writer::Model file(13);
  file.input("x", {2, 2}).output("columns").output("rows");
  file.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"columns"}});
  file.node({.op = "Transpose", .inputs = {"columns"}, .outputs = {"rows"}});
  file.save(folder / "places.onnx");
  const Model model = test::load_on_cpu(folder / "places.onnx");
  ASSERT_EQ(model.outputs().size(), 2U);
  EXPECT_EQ(model.outputs()[0].shape, (Shape{2, 4}));

  Session session(model);
  const auto two = session.run(std::array{Tensor::of<float>({2, 2}, {0, 1, 1, 0})});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].shape(), (Shape{2, 2}));
  EXPECT_THAT(two[0].data<std::int64_t>(), testing::ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(two[1].data<std::int64_t>(), testing::ElementsAre(0, 1, 1, 0));
  const auto one = session.run(std::array{Tensor::of<float>({2, 2}, {0, 0, 0, 5})});
  EXPECT_EQ(one[1].shape(), (Shape{1, 2}));
  EXPECT_THAT(one[0].data<std::int64_t>(), testing::ElementsAre(1, 1));
  EXPECT_EQ(session.run(std::array{Tensor::of<float>({2, 2}, {0, 0, 0, 0})})[0].shape(), (Shape{2, 0}));

  const std::vector<float> image = {0, 1, 1, 0};
  std::vector<std::int64_t> columns(8, -1);
  std::vector<std::int64_t> rows(8, -1);
  std::array outputs{output_of(columns), output_of(rows)};
  session.run(std::array{input_of(image, {2, 2})}, outputs);
  EXPECT_EQ(outputs[0].shape, (Shape{2, 2}));
  EXPECT_EQ(outputs[1].shape, (Shape{2, 2}));
  EXPECT_THAT(columns, testing::ElementsAre(0, 1, 1, 0, -1, -1, -1, -1));
  EXPECT_THAT(rows, testing::ElementsAre(0, 1, 1, 0, -1, -1, -1, -1));
}

/// Boxes above a score, at most two, in descending order; none for a black image. As detectors end.
class OpenSizes : public testing::Test {
 protected:
  OpenSizes() {
    using onnx_writer::attribute;
    const auto empty =
        onnx_writer::Model(18).initializer(onnx_writer::tensor<float>("none", {0}, {})).output("none").graph();
    onnx_writer::Model best(18);
    best.initializer(onnx_writer::tensor<std::int64_t>("two", {1}, {2}));
    best.node({.op = "Min", .inputs = {"number", "two"}, .outputs = {"k"}});
    best.node({.op = "TopK", .inputs = {"list", "k"}, .outputs = {"values", "places"}});
    best.output("values");
    onnx_writer::Model file(18);
    file.input("scores", {5}).output("kept");
    file.initializer(onnx_writer::tensor<float>("limit", {}, {0.5F}));
    file.initializer(onnx_writer::tensor<std::int64_t>("zero", {1}, {0}));
    file.node({.op = "Greater", .inputs = {"scores", "limit"}, .outputs = {"good"}});
    file.node({.op = "NonZero", .inputs = {"good"}, .outputs = {"columns"}});
    file.node({.op = "Transpose", .inputs = {"columns"}, .outputs = {"rows"}});
    file.node({.op = "GatherND", .inputs = {"scores", "rows"}, .outputs = {"list"}});
    file.node({.op = "Shape", .inputs = {"list"}, .outputs = {"number"}});
    file.node({.op = "Equal", .inputs = {"number", "zero"}, .outputs = {"is_empty"}});
    file.node({.op = "If",
               .inputs = {"is_empty"},
               .outputs = {"kept"},
               .attributes = {onnx_writer::graph_attribute("then_branch", empty),
                              onnx_writer::graph_attribute("else_branch", best.graph())}});
    file.save(folder_ / "detector.onnx");
  }

  std::vector<float> kept(std::vector<float> scores) {
    Session session(test::load_on_cpu(folder_ / "detector.onnx"));
    const Tensor output = session.run(std::array{Tensor::of<float>({5}, std::move(scores))}).at(0);
    const auto values = output.data<float>();
    return {values.begin(), values.end()};
  }

  test::TempFolder folder_;
};

TEST_F(OpenSizes, GoFromNoneToAll) {
  EXPECT_EQ(kept({0, 0, 0, 0, 0}), std::vector<float>{});
  EXPECT_EQ(kept({0, 0, 0.75F, 0, 0}), std::vector<float>{0.75F});
  EXPECT_EQ(kept({0.625F, 0, 0.75F, 0, 0.875F}), (std::vector<float>{0.875F, 0.75F}));
  EXPECT_EQ(kept({1, 2, 3, 4, 5}), (std::vector<float>{5, 4}));
}

TEST_F(OpenSizes, OfTerabytesAreRefused) {
  onnx_writer::Model file(18);
  file.input("x", {10000}).output("y");
  file.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"places"}});
  file.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  file.node({.op = "Concat",
             .inputs = {"shape", "shape", "shape"},
             .outputs = {"size"},
             .attributes = {onnx_writer::attribute("axis", 0)}});
  file.node({.op = "ConstantOfShape", .inputs = {"size"}, .outputs = {"y"}, .name = "make"});
  file.save(folder_ / "huge.onnx");
  try {
    Session session(test::load_on_cpu(folder_ / "huge.onnx"));
    FAIL() << "no machine has so much memory";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("node 'make'"), std::string_view::npos) << error.what();
  }
}

}  // namespace
}  // namespace saccade
