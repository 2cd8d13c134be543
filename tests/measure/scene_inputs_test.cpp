#include "measure/bench/scene_inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/tiny_models.hpp"

namespace saccade {
namespace {

std::vector<Tensor> zero_inputs(const Model& model) {
  std::vector<Tensor> inputs;
  for (const TensorInfo& input : model.inputs()) inputs.emplace_back(input.dtype, input.shape);
  return inputs;
}

std::vector<float> scene_pixels(const Model& model, std::uint64_t seed) {
  std::vector<Tensor> inputs = zero_inputs(model);
  draw_scene(model, seed, inputs);
  const auto data = inputs.at(0).data<float>();
  return {data.begin(), data.end()};
}

TEST(SceneInputs, AreThePreprocessedFramesOfAScene) {
  const test::TempFolder folder;
  const Model model = Model::load(test::write_box_detector(folder), {.device = Device::cpu()});
  const std::vector<float> drawn = scene_pixels(model, 1);
  const auto [low, high] = std::ranges::minmax(drawn);
  EXPECT_GE(low, 0);
  EXPECT_LE(high, 1);
  EXPECT_GT(high - low, 0.1) << "an image has contrast";
  EXPECT_EQ(drawn, scene_pixels(model, 1));
  EXPECT_NE(drawn, scene_pixels(model, 2));
}

}  // namespace
}  // namespace saccade
