#include "pipeline/model/tensor_batches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "saccade/saccade.hpp"
#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

/// Outputs with the images along the first dimension, along the last, between others, and along none.
std::string write_model(const test::TempFolder& folder) {
  using onnx_writer::attribute;
  using onnx_writer::Dims;
  onnx_writer::Model model(13);
  model.input("image", {1, 2, 3, 4});
  for (const char* output : {"first", "last", "rows", "none"}) model.output(output);
  model.initializer(onnx_writer::tensor<float>("two", {2}, {2, 3}));
  model.initializer(onnx_writer::tensor<std::int64_t>("flat", {2}, {6, 4}));
  model.node({.op = "Relu", .inputs = {"image"}, .outputs = {"first"}, .name = "relu"});
  model.node({.op = "Transpose",
              .inputs = {"image"},
              .outputs = {"last"},
              .attributes = {attribute("perm", Dims{1, 2, 3, 0})},
              .name = "transpose"});
  model.node({.op = "Reshape", .inputs = {"image", "flat"}, .outputs = {"rows"}, .name = "reshape"});
  model.node({.op = "Neg", .inputs = {"two"}, .outputs = {"none"}, .name = "neg"});
  model.save(folder / "outputs.onnx");
  return folder / "outputs.onnx";
}

class TensorBatchesTest : public testing::Test {
 protected:
  /// COUNT images of numbers that differ.
  static std::vector<std::vector<float>> images(std::size_t count) {
    std::vector<std::vector<float>> made(count, std::vector<float>(24));
    float next = -20;
    for (auto& image : made)
      for (float& value : image) value = next++;
    return made;
  }
  static std::vector<const std::byte*> pointers(const std::vector<std::vector<float>>& images) {
    std::vector<const std::byte*> all;
    for (const auto& image : images) all.push_back(reinterpret_cast<const std::byte*>(image.data()));
    return all;
  }
  static std::vector<float> read(const TensorBatches& batches, std::size_t output, std::size_t first,
                                 std::size_t count) {
    std::vector<float> values(static_cast<std::size_t>(batches.output_shape(output, count).elements()), -99);
    batches.read(output, first, count, reinterpret_cast<std::byte*>(values.data()));
    return values;
  }

  test::TempFolder folder_;
};

TEST_F(TensorBatchesTest, OutputsAreThoseOfTheImagesAlone) {
  const Model model = test::load_on_cpu(write_model(folder_));
  Session session(model);
  TensorBatches batches(model, 5);
  for (std::size_t count = 1; count <= 5; ++count) {
    const auto given = images(count);
    batches.run(pointers(given));
    for (std::size_t i = 0; i < count; ++i) {
      Tensor input(DType::kFloat32, {1, 2, 3, 4});
      std::ranges::copy(given[i], input.data<float>().begin());
      const std::vector<Tensor> alone = session.run(std::array{input});
      for (std::size_t output = 0; output < alone.size(); ++output) {
        EXPECT_EQ(batches.output_shape(output, 1), alone[output].shape());
        EXPECT_THAT(read(batches, output, i, 1), testing::ElementsAreArray(alone[output].data<float>()))
            << "output " << output << " of image " << i << " of " << count;
      }
    }
  }
}

TEST_F(TensorBatchesTest, SeveralImagesAreReadAtOnce) {
  TensorBatches batches(test::load_on_cpu(write_model(folder_)), 4);
  const auto given = images(3);
  batches.run(pointers(given));
  EXPECT_EQ(batches.output_shape(0, 2), (Shape{2, 2, 3, 4}));
  EXPECT_EQ(batches.output_shape(1, 2), (Shape{2, 3, 4, 2}));
  EXPECT_EQ(batches.output_shape(3, 2), (Shape{2}));
  const auto last = read(batches, 1, 1, 2);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(last[2 * i], given[1][i]);
    EXPECT_EQ(last[2 * i + 1], given[2][i]);
  }
  const auto rows = read(batches, 2, 1, 2);
  EXPECT_EQ(rows[0], given[1][0]);
  EXPECT_EQ(rows[24], given[2][0]);
}

TEST_F(TensorBatchesTest, WhatTakesNoBatchIsRefused) {
  onnx_writer::Model mixed(13);
  mixed.input("image", {1, 4}).output("scores");
  mixed.node({.op = "Softmax",
              .inputs = {"image"},
              .outputs = {"scores"},
              .attributes = {onnx_writer::attribute("axis", 0)},
              .name = "over_images"});
  mixed.save(folder_ / "mixed.onnx");
  try {
    const TensorBatches batches(test::load_on_cpu(folder_ / "mixed.onnx"), 2);
    FAIL() << "images are mixed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("over_images"));
  }
  onnx_writer::Model two(13);
  two.input("a", {1, 4}).input("b", {1, 4}).output("sum");
  two.node({.op = "Add", .inputs = {"a", "b"}, .outputs = {"sum"}, .name = "add"});
  two.save(folder_ / "two.onnx");
  try {
    const TensorBatches batches(test::load_on_cpu(folder_ / "two.onnx"), 2);
    FAIL() << "it has two inputs";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("2 inputs"));
  }
}

}  // namespace
}  // namespace saccade
