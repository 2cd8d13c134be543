#include "validate/sensitive_products.hpp"

#include <gmock/gmock.h>

#include "measure/statistics/drift.hpp"
#include "pipeline/model/model_impl.hpp"
#include "support/tiny_models.hpp"
#include "validate/precision_memory.hpp"

namespace saccade {
namespace {

using onnx_writer::tensor;
using testing::ElementsAre;

ProductGroup group(const std::string& name, double operations, double drift) {
  return {.products = {name}, .operations = operations, .drift = drift};
}

std::vector<NodeNames> steps(std::vector<ProductGroup> groups) { return steps_to_keep(std::move(groups)); }

TEST(StepsToKeep, BeginsWithTheMostDrift) {
  EXPECT_THAT(steps({group("a", 0.25, 0.1), group("b", 0.25, 2), group("c", 0.25, 0.8), group("d", 0.25, 0.3)}),
              ElementsAre(NodeNames{"b"}, NodeNames{"b", "c"}, NodeNames{"b", "c", "d"}));
}

TEST(StepsToKeep, PrefersProductsOfFewOperations) {
  EXPECT_EQ(steps({group("large", 0.97, 1), group("a", 0.01, 0.9), group("b", 0.01, 0.9), group("c", 0.01, 0.9),
                   group("d", 0.01, 0.9)})
                .front(),
            (NodeNames{"a", "b", "c", "d"}));
}

TEST(StepsToKeep, BeginsWithTheLastProducts) {
  ProductGroup heads = group("heads", 0.1, 0.01);
  heads.is_last = true;
  EXPECT_THAT(steps({group("a", 0.45, 1), group("b", 0.45, 0.1), heads}),
              ElementsAre(NodeNames{"heads"}, NodeNames{"a", "heads"}));
  EXPECT_THAT(steps({heads}), ElementsAre());
}

TEST(StepsToKeep, LeavesAGroup) {
  EXPECT_THAT(steps({group("a", 0.5, 1), group("b", 0.5, 1)}), ElementsAre(NodeNames{"a"}));
  EXPECT_THAT(steps({group("a", 1, 1)}), ElementsAre());
  EXPECT_THAT(steps({}), ElementsAre());
}

TEST(StepsToKeep, HasNothingToKeepWithoutDrift) {
  EXPECT_THAT(steps({group("a", 0.5, 0), group("b", 0.5, 0)}), ElementsAre());
}

/// A colour classifier whose scores are the differences of nearly equal values, computed by "second" and subtracted by
/// "third": eight bits of a mantissa do not show them. Returns its path.
std::string write_cancelling_classifier(const test::TempFolder& folder) {
  constexpr float kNear = 1.001F;
  constexpr float kLarge = 1000;
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("scores");
  model.initializer(tensor<float>("same", {3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  model.initializer(
      tensor<float>("both", {6, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1, kNear, 0, 0, 0, kNear, 0, 0, 0, kNear}));
  std::vector<float> difference(18);
  for (std::size_t i = 0; i < 3; ++i) {
    difference[6 * i + i] = -kLarge;
    difference[6 * i + i + 3] = kLarge;
  }
  model.initializer(tensor<float>("difference", {3, 6, 1, 1}, difference));
  const auto conv = [&](const std::string& from, const std::string& weights, const std::string& to) {
    model.node({.op = "Conv", .inputs = {from, weights}, .outputs = {to}, .name = to});
  };
  conv("image", "same", "first");
  conv("first", "both", "second");
  conv("second", "difference", "third");
  model.node({.op = "GlobalAveragePool", .inputs = {"third"}, .outputs = {"mean"}, .name = "pool"});
  model.node({.op = "Flatten", .inputs = {"mean"}, .outputs = {"scores"}, .name = "flatten"});
  model.save(folder / "cancelling.onnx");
  test::write_color_card(folder, "cancelling");
  return folder / "cancelling.onnx";
}

TEST(SensitiveProducts, AreFoundByTheirDrift) {
  const test::TempFolder folder;
  const std::string path = write_cancelling_classifier(folder);
  const std::vector<ProductGroup> groups =
      find_sensitive_products(path, {.device = Device::cpu(), .threads = 1}, Precision::kBf16);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(groups[0].products, ElementsAre("third"));
  EXPECT_TRUE(groups[0].is_last);
  EXPECT_THAT(groups[1].products, ElementsAre("first"));
  EXPECT_GT(groups[1].drift, 0);
  EXPECT_GT(groups[0].drift, 10 * groups[1].drift);
  EXPECT_GT(groups[2].drift, 10 * groups[1].drift);
  EXPECT_NEAR(groups[0].operations + groups[1].operations + groups[2].operations, 1, 1e-9);
  const std::vector<NodeNames> steps = steps_to_keep(groups);
  EXPECT_THAT(steps.front(), ElementsAre("third"));
  EXPECT_THAT(steps.back(), ElementsAre("second", "third"));
}

/// Also the product that writes the model's output, whatever is fused into it.
TEST(SensitiveProducts, StayInFp32OnFramesAndOnTensors) {
  const test::TempFolder folder;
  onnx_writer::Model head(13);
  head.input("image", {1, 3, 8, 8}).output("scores");
  head.initializer(tensor<float>("weights", {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  head.initializer(tensor<float>("bias", {3}, {0.1F, 0.2F, 0.3F}));
  head.node({.op = "GlobalAveragePool", .inputs = {"image"}, .outputs = {"mean"}, .name = "pool"});
  head.node({.op = "Flatten", .inputs = {"mean"}, .outputs = {"flat"}, .name = "flatten"});
  head.node({.op = "MatMul", .inputs = {"flat", "weights"}, .outputs = {"product"}, .name = "head"});
  head.node({.op = "Add", .inputs = {"product", "bias"}, .outputs = {"scores"}, .name = "add"});
  head.save(folder / "head.onnx");
  test::write_color_card(folder, "head");
  const auto type_of_head = [](const Plan& plan) {
    for (const NodeId id : plan.graph().order())
      if (plan.graph().node(id).name == "head") return plan.graph().value(plan.graph().node(id).outputs[0]).type.dtype;
    return DType::kFrame;
  };
  for (const auto& [kept, type] : {std::pair(NodeNames(), DType::kBFloat16), {NodeNames{"head"}, DType::kFloat32}}) {
    const Model model = Model::load(folder / "head.onnx", {.device = Device::cpu(), .threads = 1});
    use_precision(model, {Precision::kBf16, kept});
    EXPECT_EQ(type_of_head(*impl_of(model).tensor_plan()), type);
    EXPECT_EQ(type_of_head(*impl_of(model).vision_plan().plan), type);
  }
}

TEST(SensitiveProducts, StayInFp32) {
  const test::TempFolder folder;
  const std::string path = write_cancelling_classifier(folder);
  std::vector<Tensor> images;
  for (const float shift : {0.0F, 0.3F}) {
    Tensor& image = images.emplace_back(DType::kFloat32, Shape{1, 3, 8, 8});
    for (std::size_t i = 0; i < image.data<float>().size(); ++i)
      image.data<float>()[i] = shift + 0.003F * static_cast<float>(i % 150);
  }
  const auto run = [&](const DecidedPrecision& decided, const Tensor& image) {
    const Model model = Model::load(path, {.device = Device::cpu(), .threads = 1});
    use_precision(model, decided);
    return Session(model).run(std::span(&image, 1))[0];
  };
  const auto drift_in = [&](const DecidedPrecision& decided) {
    return drift(run(decided, images[0]), run({Precision::kFp32}, images[0]), run({Precision::kFp32}, images[1]));
  };
  const double narrowed = drift_in({Precision::kBf16});
  EXPECT_GT(narrowed, 0.05);
  EXPECT_LT(drift_in({Precision::kBf16, {"second", "third"}}), 0.1 * narrowed);
  EXPECT_EQ(drift_in({Precision::kBf16, {"first", "second", "third"}}), 0);
}

}  // namespace
}  // namespace saccade
