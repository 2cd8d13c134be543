#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "graph/verify.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/model_impl.hpp"
#include "support/cpu_model.hpp"
#include "vision/batching/batch_images.hpp"

namespace saccade {
namespace {

/// A model for a batch computes what it computes for each image.
class BatchOf : public testing::TestWithParam<std::string> {};

TEST_P(BatchOf, Model) {
  const Model model = test::load_on_cpu(GetParam());
  Graph graph = impl_of(model).graph();
  const auto axes = batch_images(graph, graph.inputs()[0], 2);
  verify(graph);
  const auto together = compile({.graph = graph, .options = model.options()});
  const auto alone = compile({.graph = impl_of(model).graph(), .options = model.options()});
  Execution batch(together);
  Execution single(alone);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> reals(0, 1);
  const TensorView input = batch.input(0);
  ASSERT_EQ(input.dtype, DType::kFloat32);
  for (float& each : input.as<float>()) each = reals(random);
  for (Execution* each : {&batch, &single})
    for (std::size_t i = 1; i < graph.inputs().size(); ++i)  // sizes of the image
      if (each->input(i).dtype == DType::kInt64) std::ranges::fill(each->input(i).as<std::int64_t>(), 320);
  batch.run();
  const std::size_t per_image = single.input(0).as<float>().size();
  for (std::size_t image = 0; image < 2; ++image) {
    std::ranges::copy(input.as<float>().subspan(image * per_image, per_image), single.input(0).as<float>().begin());
    single.run();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      ASSERT_TRUE(axes[i]);
      const TensorView made = batch.output(i);
      if (made.dtype != DType::kFloat32) continue;
      const auto wanted = single.output(i).as<float>();
      std::int64_t before = axes[i]->outer;
      for (int k = 0; k < axes[i]->axis; ++k) before *= made.shape[k];
      const std::size_t run = wanted.size() / static_cast<std::size_t>(before);
      double largest = 0;
      double spread = 0;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const float got = made.as<float>()[(k / run * 2 + image) * run + k % run];
        largest = std::max(largest, std::abs(double{got} - wanted[k]));
        spread = std::max(spread, std::abs(double{wanted[k]}));
      }
      // Products of other shapes sum in another order.
      EXPECT_LE(largest, 1e-4 * spread) << "output " << i << " of image " << image;
    }
  }
}

std::vector<std::string> models() {
  std::vector<std::string> found;
  // The second one is there once the parity tests have filled it.
  const std::filesystem::path filled = std::filesystem::path(SACCADE_BINARY).parent_path() / "filled";
  for (const std::filesystem::path& folder : {std::filesystem::path(SACCADE_SHARED "/models/real"), filled}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

TEST(BatchOfModels, AreTested) {
  if (models().empty()) GTEST_SKIP() << "there are no models in ../shared/models";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BatchOf);
INSTANTIATE_TEST_SUITE_P(Shared, BatchOf, testing::ValuesIn(models()), [](const auto& tested) {
  std::string name = std::filesystem::path(tested.param).stem();
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace saccade
