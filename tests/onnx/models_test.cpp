#include <algorithm>
#include <cctype>
#include <map>

#include "import.hpp"

namespace saccade {
namespace {

struct RealModel {
  const char* file;
  std::map<std::string, Shape> outputs;
};

void PrintTo(const RealModel& model, std::ostream* out) { *out << model.file; }

/// Trained models of several exporters, with the outputs that their files declare (symbolic dimensions: 1).
class RealModelTest : public ::testing::TestWithParam<RealModel> {};

TEST_P(RealModelTest, ImportsWithTheShapesItsFileDeclares) {
  const std::filesystem::path file = std::filesystem::path(SACCADE_SHARED) / "models/real" / GetParam().file;
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs ../shared (models/real)";

  const Graph graph = module<OnnxModule>("onnx").import_model(file, {});

  std::map<std::string, Shape> outputs;
  for (ValueId id : graph.outputs()) outputs[graph.value(id).name] = graph.value(id).type.shape;
  EXPECT_EQ(outputs, GetParam().outputs);
}

const std::vector<RealModel> kRealModels = {
    {"deeplabv3_mnv2_dm05_257.onnx", {{"logits", {1, 21, 257, 257}}}},
    {"deimv2_atto_coco_320.onnx", {{"labels", {1, 100}}, {"boxes", {1, 100, 4}}, {"scores", {1, 100}}}},
    {"face_yolo11n_qdq_640.onnx", {{"output0", {1, 5, 8400}}}},
    {"mobilenetv2_v1_224.onnx", {{"output", {1, 1000}}}},
    {"pydnetpp_448x640.onnx", {{"depth", {1, 1, 448, 640}}}},
    {"resnet20_cifar10.onnx", {{"logits", {1, 10}}}},
    {"shufflenet-v2-12-int8_qlinear.onnx", {{"output", {1, 1000}}}},
    {"squeezenet1.1_224.onnx", {{"softmaxout_1", {1, 1000, 1, 1}}}},
    {"yolov8n-seg_640.onnx", {{"output0", {1, 116, 8400}}, {"output1", {1, 32, 160, 160}}}},
    {"yolov8n_640.onnx", {{"output0", {1, 84, 8400}}}},
    {"yolox_nano_416.onnx", {{"output", {1, 3549, 85}}}},
};

INSTANTIATE_TEST_SUITE_P(Shared, RealModelTest, ::testing::ValuesIn(kRealModels), [](const auto& model) {
  std::string name = model.param.file;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST(RealModels, AnArchitectureWithoutItsWeightsIsReported) {
  const std::filesystem::path file = std::filesystem::path(SACCADE_SHARED) / "models/architectures/resnet50.onnx";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs ../shared (models/architectures)";

  try {
    module<OnnxModule>("onnx").import_model(file, {});
    FAIL() << "weights out of nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    EXPECT_NE(std::string(error.what()).find("elements are missing from the file (weights stripped"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace saccade
