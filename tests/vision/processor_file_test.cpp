#include <fmt/format.h>

#include "card_models.hpp"

namespace saccade::test {
namespace {

constexpr const char* kVit = R"({"do_resize": true, "size": {"height": 224, "width": 224}, "resample": 3,
  "do_rescale": true, "rescale_factor": 0.00392156862745098, "do_normalize": true, "image_mean": [0.5, 0.5, 0.5],
  "image_std": [0.25, 0.5, 0.5], "image_processor_type": "ViTImageProcessor"})";

/// A classifier of 5 classes in a folder with files of other tools.
class ProcessorFiles : public CardFiles {
 protected:
  Card beside(const std::string& text, const std::string& name = "preprocessor_config.json", int side = 224) const {
    write(text, name);
    return card_for(model({1, 3, side, side}, {1, 5}), folder_ / "model.onnx");
  }
  std::string refusal(const std::string& text, const std::string& name = "preprocessor_config.json") const {
    return message_of([&] { beside(text, name); });
  }
};

TEST_F(ProcessorFiles, OfVitStretchesByBicubic) {
  const Card card = beside(kVit);
  EXPECT_EQ(card.resize, ResizeMode::kStretch);
  EXPECT_EQ(card.interpolation, Interpolation::kBicubicAntialias);
  EXPECT_EQ(card.mean, (std::array{0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(card.std, (std::array{0.25F, 0.5F, 0.5F}));
  EXPECT_FLOAT_EQ(card.scale, 1.0F / 255);
  EXPECT_NE(card.origin.find("preprocessor_config.json"), std::string::npos);
}

TEST_F(ProcessorFiles, OfMobileNetCropsTheCentre) {
  const Card card = beside(R"({"size": {"shortest_edge": 256}, "do_center_crop": true, "crop_size": {"height": 224,
    "width": 224}, "resample": 2, "do_normalize": false, "rescale_factor": 0.5})");
  EXPECT_EQ(card.resize, ResizeMode::kResizeCropFloor);
  EXPECT_EQ(card.resize_to, 256);
  EXPECT_EQ(card.interpolation, Interpolation::kBilinearAntialias);
  EXPECT_EQ(card.scale, 0.5F);
  EXPECT_EQ(card.mean, (std::array{0.0F, 0.0F, 0.0F}));
}

TEST_F(ProcessorFiles, OfConvNextCropsSmallImagesAlone) {
  const std::string small = R"({"size": {"shortest_edge": 224}, "crop_pct": 0.9, "resample": 3})";
  EXPECT_EQ(beside(small).resize_to, 248);
  EXPECT_EQ(beside(R"({"size": {"shortest_edge": 384}, "resample": 3})", "preprocessor_config.json", 384).resize,
            ResizeMode::kStretch);
}

TEST_F(ProcessorFiles, OfEfficientNetSubtractsOne) {
  const Card card = beside(R"({"size": {"height": 224, "width": 224}, "resample": 2, "rescale_factor": 0.0078125,
    "rescale_offset": true, "do_normalize": false})");
  EXPECT_EQ(card.mean, (std::array{1.0F, 1.0F, 1.0F}));
}

TEST_F(ProcessorFiles, OfEfficientNetDivideByStdTwice) {
  const std::string text = R"("size": {"height": 224, "width": 224}, "resample": 2, "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.25, 0.5], "do_normalize": true)";
  const Card twice = beside("{" + text + R"(, "image_processor_type": "EfficientNetImageProcessor"})");
  EXPECT_EQ(twice.mean, (std::array{0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(twice.std, (std::array{0.25F, 0.0625F, 0.25F}));
  EXPECT_EQ(beside("{" + text + R"(, "include_top": true})").std, twice.std);
  EXPECT_EQ(beside("{" + text + R"(, "include_top": false})").std, (std::array{0.5F, 0.25F, 0.5F}));
}

TEST_F(ProcessorFiles, OfLevitAndPoolFormerCropAnEnlargedImage) {
  const std::string text = R"("size": {"shortest_edge": 224}, "do_center_crop": true, "resample": 3,
    "crop_size": {"height": 224, "width": 224})";
  EXPECT_EQ(beside("{" + text + "}").resize_to, 224);
  EXPECT_EQ(beside("{" + text + R"(, "image_processor_type": "LevitImageProcessor"})").resize_to, 256);
  EXPECT_EQ(beside("{" + text + R"(, "feature_extractor_type": "LevitFeatureExtractor"})").resize_to, 256);
  EXPECT_EQ(beside("{" + text + R"(, "crop_pct": 0.9})").resize_to, 248);
}

TEST_F(ProcessorFiles, OfTimmCropAsItDoes) {
  const Card card = beside(R"({"architecture": "x", "num_classes": 5, "label_names": ["a", "b", "c", "d", "e"],
    "label_descriptions": {"b": "bee"}, "pretrained_cfg": {"input_size": [3, 224, 224], "interpolation": "bicubic",
    "crop_pct": 0.95, "crop_mode": "center", "mean": [0.5, 0.4, 0.3], "std": [0.1, 0.2, 0.3], "num_classes": 5}})",
                           "config.json");
  EXPECT_EQ(card.resize, ResizeMode::kResizeCrop);
  EXPECT_EQ(card.resize_to, 235);
  EXPECT_EQ(card.interpolation, Interpolation::kBicubicAntialias);
  EXPECT_EQ(card.mean, (std::array{0.5F, 0.4F, 0.3F}));
  EXPECT_EQ(card.head().labels, (std::vector<std::string>{"a", "bee", "c", "d", "e"}));
}

TEST_F(ProcessorFiles, OfVoloCropMoreThanTheImage) {
  const char* volo = R"({"pretrained_cfg": {"crop_pct": 1.15}})";
  EXPECT_EQ(beside(volo, "config.json").resize_to, 194);
  EXPECT_NE(refusal(R"({"pretrained_cfg": {"crop_pct": 1.6}})", "config.json").find("at most 1.5"), std::string::npos);
}

TEST_F(ProcessorFiles, OfTimmSquashAndPad) {
  const auto timm = [](const char* mode, double share) {
    return fmt::format(R"({{"pretrained_cfg": {{"crop_mode": "{}", "crop_pct": {}, "mean": [0.5, 0.5, 1.0]}}}})", mode,
                       share);
  };
  EXPECT_EQ(beside(timm("squash", 1.0), "config.json").resize, ResizeMode::kStretch);
  const Card padded = beside(timm("border", 1.0), "config.json");
  EXPECT_EQ(padded.resize, ResizeMode::kLetterbox);
  EXPECT_EQ(padded.pad, (std::array{128, 128, 255}));
  EXPECT_NE(refusal(timm("squash", 0.9), "config.json").find("crop_pct below 1"), std::string::npos);
}

TEST_F(ProcessorFiles, OfAnotherKindAreNone) {
  EXPECT_EQ(beside(R"({"model_type": "vit", "id2label": {}})", "config.json").origin, "the model's inputs and outputs");
  EXPECT_EQ(beside("[1, 2]", "config.json").origin, "the model's inputs and outputs");
}

TEST_F(ProcessorFiles, GiveWayToACard) {
  write(kVit, "preprocessor_config.json");
  write("[input]\nmean = 0\n", "model.toml");
  const Card card = card_for(model({1, 3, 224, 224}, {1, 5}), folder_ / "model.onnx");
  EXPECT_EQ(card.mean[0], 0);
  EXPECT_EQ(card.interpolation, Interpolation::kBilinearAntialias);
}

TEST_F(ProcessorFiles, KeepWholePixelsOfIntegerInputs) {
  write(kVit, "preprocessor_config.json");
  const Card card = card_for(model({1, 3, 224, 224}, {1, 5}, DType::kUInt8), folder_ / "model.onnx");
  EXPECT_EQ(card.scale, 1);
  EXPECT_EQ(card.interpolation, Interpolation::kBicubicAntialias);
}

TEST_F(ProcessorFiles, SayWhatTheyLeaveOpen) {
  const Card silent = beside(R"({"size": 224, "strange": 1})");
  ASSERT_GE(silent.assumptions.size(), 2U);
  EXPECT_NE(silent.assumptions[0].find("'strange'"), std::string::npos);
  EXPECT_NE(silent.assumptions[1].find("input.interpolation"), std::string::npos);
}

TEST_F(ProcessorFiles, AreRefusedInOneSentence) {
  for (const char* text : {"{",
                           "[]",
                           "nonsense",
                           R"({"resample": 1})",
                           R"({"resample": 1e99})",
                           R"({"resample": "bicubic"})",
                           R"({"size": {"height": 224}})",
                           R"({"size": {"height": 9, "width": 9}})",
                           R"({"size": -1})",
                           R"({"size": {"side": 5}})",
                           R"({"size": 1e300})",
                           R"({"do_solarize": true})",
                           R"({"do_resize": "yes"})",
                           R"({"image_std": [0, 1, 1], "image_mean": 0})",
                           R"({"rescale_factor": 0})",
                           R"({"image_mean": [1, 2]})",
                           R"({"do_normalize": true})",
                           R"({"do_center_crop": true, "size": 256})",
                           R"({"size": {"shortest_edge": 224}, "crop_pct": 0})",
                           R"({"size": {"shortest_edge": 2}, "crop_pct": 1e-30})"}) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find("preprocessor_config.json"), std::string::npos) << text << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  write(kVit, "preprocessor_config.json");
  EXPECT_NE(refusal("{", "preprocessor_config.json").find("--card"), std::string::npos);
}

TEST_F(ProcessorFiles, OfTimmAreRefusedInOneSentence) {
  for (const char* inner : {R"({"interpolation": "lanczos"})", R"({"interpolation": 3})", R"({"crop_mode": "corner"})",
                            R"({"crop_pct": 2})", R"({"mean": ["a", 1, 1]})", R"({"std": 0})"}) {
    const std::string said = refusal(fmt::format(R"({{"pretrained_cfg": {}}})", inner), "config.json");
    EXPECT_NE(said.find("config.json"), std::string::npos) << inner << ": " << said;
  }
  EXPECT_NE(refusal(R"({"pretrained_cfg": {}, "label_names": [1]})", "config.json").find("label_names"),
            std::string::npos);
}

}  // namespace
}  // namespace saccade::test
