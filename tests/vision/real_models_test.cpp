#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/module.hpp"
#include "graph/importer.hpp"
#include "graph/verify.hpp"
#include "vision/attach.hpp"

namespace saccade {
namespace {

struct Expected {
  std::string file;
  std::string error;  ///< part of the message if the model cannot run on frames
  std::string decoder;
  int classes = 0;
  std::string first_label;
  bool softmax = false;
};

std::ostream& operator<<(std::ostream& out, const Expected& expected) { return out << expected.file; }

class RealModels : public ::testing::TestWithParam<Expected> {};

TEST_P(RealModels, AreRecognised) {
  const Expected& expected = GetParam();
  const std::filesystem::path path = std::filesystem::path(SACCADE_SHARED) / "models/real" / expected.file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs ../shared/models/real/" << expected.file;
  Graph graph = module<OnnxModule>("onnx").import_model(path, {});
  try {
    const Card card = card_for(graph, path);
    EXPECT_EQ(expected.error, "") << to_toml(card);
    EXPECT_EQ(card.head().decoder->name, expected.decoder) << to_toml(card);
    EXPECT_EQ(card.head().classes, expected.classes);
    EXPECT_EQ(card.head().labels.empty() ? "" : card.head().labels[0], expected.first_label);
    EXPECT_EQ(card.head().softmax, expected.softmax);
    verify(attach(std::move(graph), card, {}).graph);
  } catch (const Error& error) {
    ASSERT_NE(expected.error, "") << error.what();
    EXPECT_NE(std::string(error.what()).find(expected.error), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealModels,
                         ::testing::Values(Expected{"yolov8n_640.onnx", "", "yolov8", 80, "person"},
                                           Expected{"face_yolo11n_qdq_640.onnx", "", "yolov8", 1, "item"},
                                           Expected{"yolox_nano_416.onnx", "", "yolox", 80, "person"},
                                           Expected{"mobilenetv2_v1_224.onnx", "", "classify", 1000, "tench", true},
                                           Expected{"squeezenet1.1_224.onnx", "", "classify", 1000, "tench", false},
                                           Expected{"resnet20_cifar10.onnx", "", "classify", 10, "0", true},
                                           Expected{"shufflenet-v2-12-int8_qlinear.onnx", "", "classify", 1000, "tench",
                                                    true},
                                           Expected{"yolov8n-seg_640.onnx", "", "yolov8-seg", 80, "person"},
                                           Expected{"deimv2_atto_coco_320.onnx", "", "detr-e2e", 80, "person"},
                                           Expected{"deeplabv3_mnv2_dm05_257.onnx", "", "semantic", 21, "background"},
                                           Expected{"pydnetpp_448x640.onnx", "", "depth", 0, ""}),
                         [](const auto& test) {
                           std::string name = std::filesystem::path(test.param.file).stem();
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace saccade
