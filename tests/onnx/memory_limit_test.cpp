#include <fmt/format.h>

#include "import.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Model;

constexpr std::size_t kKilobyte = 1024;

class MemoryLimit : public ImportTest {
 protected:
  std::string error_within(std::size_t max_memory, const Model& model) const {
    return error_of(model, {.max_memory = max_memory});
  }
};

onnx_writer::Message zeros(const std::string& name, int count) {
  return onnx_writer::raw_tensor(name, onnx_writer::kFloat, {count},
                                 std::string(4 * static_cast<std::size_t>(count), '\0'));
}

TEST_F(MemoryLimit, CountsInitializersTogether) {
  // In an external file: data in the model file itself are counted before it is parsed.
  write("weights.bin", std::string(64 * kKilobyte, '\0'));
  const auto weights = [](const std::string& name) {
    return onnx_writer::external_tensor(name, onnx_writer::kUInt8, {64 * kKilobyte}, {{"location", "weights.bin"}});
  };
  Model model(13);
  model.output("b").initializer(weights("a")).initializer(weights("b"));

  EXPECT_EQ(error_within(130 * kKilobyte, model), "");
  const std::string error = error_within(100 * kKilobyte, model);
  EXPECT_TRUE(error.starts_with("model.onnx: tensor 'b': it needs 64.0 KiB, but of the model's limit of 100.0 KiB"))
      << error;
  EXPECT_TRUE(error.ends_with("are left; raise it with --max-model-memory SIZE")) << error;
}

TEST_F(MemoryLimit, CountsExternalDataBeforeReadingThem) {
  write("weights.bin", "");
  std::filesystem::resize_file(file("weights.bin"), std::uintmax_t{1} << 36);  // sparse: takes no space
  Model model(13);
  model.output("w").initializer(
      onnx_writer::external_tensor("w", onnx_writer::kUInt8, {std::int64_t{1} << 36}, {{"location", "weights.bin"}}));

  const std::string error = error_within(4 * kKilobyte, model);
  EXPECT_TRUE(error.starts_with("model.onnx: tensor 'w': it needs 64.0 GiB, but of the model's limit of 4.0 KiB"))
      << error;
}

TEST_F(MemoryLimit, CountsSparseTensorsAsTheyAreUsed) {
  Model model(13);
  model.output("w").sparse_initializer(zeros("w", 1), onnx_writer::tensor<std::int64_t>("", {1}, {3}), {1 << 20});

  const std::string error = error_within(64 * kKilobyte, model);
  EXPECT_TRUE(error.starts_with("model.onnx: tensor 'w': it needs 4.0 MiB")) << error;
}

TEST_F(MemoryLimit, CountsTheTensorsOfNodes) {
  write("weights.bin", std::string(64 * kKilobyte, '\0'));
  Model model(13);
  model.output("c").node(
      {.op = "Constant",
       .inputs = {},
       .outputs = {"c"},
       .attributes = {attribute("value", onnx_writer::external_tensor("", onnx_writer::kUInt8, {64 * kKilobyte},
                                                                      {{"location", "weights.bin"}}))},
       .name = "large"});

  const std::string error = error_within(32 * kKilobyte, model);
  EXPECT_TRUE(error.starts_with("model.onnx: node 'large' (Constant): tensor '': it needs 64.0 KiB")) << error;
}

TEST_F(MemoryLimit, CountsWhatIsWorkedOutForShapesTogether) {
  constexpr int kSteps = 4;
  Model model(13);
  model.input("x0", {2}).output(fmt::format("x{}", kSteps));
  model.initializer(onnx_writer::tensor<std::int64_t>("size", {1}, {1 << 20}));
  const auto zero = onnx_writer::tensor<std::int64_t>("", {1}, {0});
  for (int i = 0; i < kSteps; ++i) {
    // 8 MiB of zeros, of which a Reshape needs the sum.
    const auto name = [&](const char* what) { return fmt::format("{}{}", what, i); };
    model.node({.op = "ConstantOfShape",
                .inputs = {"size"},
                .outputs = {name("zeros")},
                .attributes = {attribute("value", zero)},
                .name = name("zeros")});
    model.node({.op = "ReduceSum", .inputs = {name("zeros")}, .outputs = {name("sum")}, .name = name("sum")});
    model.node({.op = "Reshape", .inputs = {name("x"), name("sum")}, .outputs = {fmt::format("x{}", i + 1)}});
  }

  EXPECT_EQ(error_within(std::size_t{33} << 20, model), "");
  const std::string error = error_within(std::size_t{20} << 20, model);
  EXPECT_NE(error.find("node 'zeros2' (ConstantOfShape): it needs 8.0 MiB, but of the model's limit of 20.0 MiB"),
            std::string::npos)
      << error;
}

TEST_F(MemoryLimit, CountsTheNamesThatCallsOfFunctionsMake) {
  constexpr int kCalls = 64;
  const std::string name(4 * kKilobyte, 'n');
  Model model(13);
  model.opset("f", 1).input("x", {1}).output("y63");
  model.function({.domain = "f",
                  .name = "F",
                  .inputs = {"a"},
                  .outputs = {"b"},
                  .nodes = {{.op = "Identity", .inputs = {"a"}, .outputs = {name}, .name = name},
                            {.op = "Identity", .inputs = {name}, .outputs = {"b"}}},
                  .opsets = {{"", 13}}});
  for (int i = 0; i < kCalls; ++i)
    model.node({.op = "F",
                .inputs = {i == 0 ? "x" : fmt::format("y{}", i - 1)},
                .outputs = {fmt::format("y{}", i)},
                .domain = "f"});

  EXPECT_EQ(error_within(std::size_t{2} << 20, model), "");
  EXPECT_NE(error_within(256 * kKilobyte, model).find("but of the model's limit of"), std::string::npos);
}

}  // namespace
}  // namespace saccade
