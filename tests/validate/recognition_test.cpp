#include "validate/recognition.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "support/tiny_models.hpp"
#include "validate/fixture.hpp"
#include "vision/cards/card_variants.hpp"

namespace saccade {
namespace {

using test::expect_error;

class RecognitionTest : public test::ValidateFixture {
 protected:
  Recognition recognise(const std::string& model, const std::string& data) {
    RecognitionOptions options{.file = model, .data = data};
    options.model.device = Device::cpu();
    return recognise_on(options, {.progress = [&](const std::string&, double share) { progress_ = share; }});
  }

  /// Images of red, green and blue in turn, with their synsets.
  void write_colors(int count) {
    const std::array<std::array<std::uint8_t, 3>, 3> colors{{{230, 20, 20}, {20, 230, 20}, {20, 20, 230}}};
    for (int i = 0; i < count; ++i)
      test::write_solid_image(folder_, fmt::format("n0000000{}_{}.png", i % 3 + 1, i), 8, 8,
                              colors[static_cast<std::size_t>(i % 3)]);
    test::write_file(folder_, "synset.txt", "n00000001 red\nn00000002 green\nn00000003 blue\n");
  }

  /// The color classifier without its card.
  std::string write_bare_classifier() {
    std::string path = test::write_color_classifier(models_);
    std::filesystem::remove(models_ / "color.toml");
    return path;
  }
};

TEST_F(RecognitionTest, FindsTheOrderOfChannelsByLabels) {
  write_colors(12);
  const Recognition found = recognise(write_bare_classifier(), "imagenet:" + folder_.string());
  for (std::size_t i = 0; i < found.close; ++i) EXPECT_EQ(found.trials[i].card.color, ChannelOrder::kRgb);
  EXPECT_EQ(found.trials.front().metric, 1);
  EXPECT_EQ(found.images, 12U);
  // Exchanged channels leave only green.
  for (const CardTrial& trial : found.trials)
    if (trial.card.color == ChannelOrder::kBgr) {
      EXPECT_LT(trial.metric, 0.5) << trial.summary;
      EXPECT_GT(trial.behind.interval->low, 0) << trial.summary;
    }
  EXPECT_GT(progress_, 0);
}

/// An object in each of the images, and the categories of the data. By default as write_box_detector() predicts it.
struct SameBoxes {
  std::string box = "[1, 2, 4, 4]";
  std::string categories = R"({"id": 1, "name": "0"})";
  int category = 1;
};

void write_same_boxes(const test::TempFolder& folder, int count, const SameBoxes& same = {}) {
  std::string images;
  std::string objects;
  for (int i = 1; i <= count; ++i) {
    test::write_solid_image(folder, fmt::format("images/{}.png", i), 8, 8);
    const char* comma = i == 1 ? "" : ",";
    images += fmt::format(R"({}{{"id": {}, "file_name": "{}.png", "width": 8, "height": 8}})", comma, i, i);
    objects += fmt::format(R"({}{{"id": {}, "image_id": {}, "category_id": {}, "bbox": {}, "area": 16,
"iscrowd": 0}})",
                           comma, i, i, same.category, same.box);
  }
  test::write_file(folder, "instances.json",
                   R"({"categories": [)" + same.categories + R"(], "images": [)" + images + R"(], "annotations": [)" +
                       objects + "]}");
}

TEST_F(RecognitionTest, KeepsTheDefaultWhereImagesDoNotTell) {
  write_same_boxes(folder_, 10);
  const std::string model = test::write_box_detector(models_);
  std::filesystem::remove(models_ / "boxes.toml");
  const Recognition found = recognise(model, "coco:" + folder_.string());
  EXPECT_EQ(found.verdict, CardVerdict::kDefault) << to_text(found);
  EXPECT_GT(found.close, 10U);
  EXPECT_TRUE(found.trials[found.chosen].is_default);
  EXPECT_EQ(found.card()->head().decoder->name, "yolo-e2e");
  EXPECT_EQ(found.least, 0.1);
}

std::ptrdiff_t trials_of(const Recognition& found, std::string_view decoder) {
  return std::ranges::count_if(found.trials,
                               [&](const CardTrial& trial) { return trial.card.head().decoder->name == decoder; });
}

TEST_F(RecognitionTest, RulesOutADecoderByOneCard) {
  write_same_boxes(folder_, 10);
  const std::string model = test::write_box_detector(models_);
  std::filesystem::remove(models_ / "boxes.toml");
  const Recognition found = recognise(model, "coco:" + folder_.string());
  EXPECT_GT(trials_of(found, "yolo-e2e"), 10);
  EXPECT_EQ(trials_of(found, "rtdetr-e2e"), 1);
}

/// Saves MODEL with an 8x8 image whose pixels change nothing, and the outputs NAMES, the initializers "value_NAME".
std::string save_constants(onnx_writer::Model& model, const std::vector<std::string>& names, const std::string& path) {
  model.input("image", {1, 3, 8, 8});
  model.initializer(onnx_writer::tensor<float>("zero", {1}, {0}));
  model.node({.op = "ReduceMean",
              .inputs = {"image"},
              .outputs = {"one"},
              .attributes = {onnx_writer::attribute("axes", onnx_writer::Dims{0, 1, 2, 3}),
                             onnx_writer::attribute("keepdims", 0)},
              .name = "reduce"});
  model.node({.op = "Mul", .inputs = {"one", "zero"}, .outputs = {"nothing"}, .name = "mul"});
  for (const std::string& name : names) {
    model.output(name);
    model.node({.op = "Add", .inputs = {"value_" + name, "nothing"}, .outputs = {name}, .name = "add_" + name});
  }
  model.save(path);
  return path;
}

TEST_F(RecognitionTest, FindsTheNumbersOfTheClasses) {
  write_same_boxes(folder_, 10,
                   {.box = "[0, 0, 2, 2]",
                    .categories = R"({"id": 1, "name": "other"}, {"id": 5, "name": "thing"})",
                    .category = 5});
  onnx_writer::Model model(13);
  model.initializer(onnx_writer::tensor<float>("value_rows", {1, 1, 6}, {0, 0, 2, 2, 0.9F, 5}));
  const Recognition found =
      recognise(save_constants(model, {"rows"}, models_ / "rows.onnx"), "coco:" + folder_.string());
  ASSERT_NE(found.card(), nullptr) << to_text(found);
  EXPECT_THAT(found.card()->head().labels, testing::ElementsAre("other", "thing"));
  EXPECT_THAT(found.card()->head().remap, testing::ElementsAre(-1, 0, -1, -1, -1, 1));
  EXPECT_EQ(found.trials[found.chosen].metric, 1);
  EXPECT_EQ(nlohmann::json::parse(to_json(found)).at("chosen"), found.chosen);
}

TEST_F(RecognitionTest, WithoutLabelsTheDefaultsDecoderIsKept) {
  for (int i = 0; i < 10; ++i) test::write_solid_image(folder_, fmt::format("{}.png", i), 8, 8);
  const auto trials_with_box = [&](std::vector<float> row) {
    onnx_writer::Model model(13);
    model.initializer(onnx_writer::tensor<float>("value_rows", {1, 1, 6}, std::move(row)));
    const Recognition found = recognise(save_constants(model, {"rows"}, models_ / "rows.onnx"), folder_.string());
    return trials_of(found, "rtdetr-e2e");
  };
  // The first lies as in the mirrored image, the second does not.
  EXPECT_EQ(trials_with_box({2, 2, 6, 6, 0.9F, 0}), 0);
  EXPECT_GT(trials_with_box({0, 2, 3, 6, 0.9F, 0}), 0);
}

TEST_F(RecognitionTest, NumbersThatImagesDoNotTellAreNoCard) {
  // Class 1 is the first after a background, and the ID.
  write_same_boxes(folder_, 10,
                   {.box = "[0, 0, 2, 2]", .categories = R"({"id": 1, "name": "thing"}, {"id": 5, "name": "other"})"});
  const std::string model = test::write_box_detector(models_);
  std::filesystem::remove(models_ / "boxes.toml");
  const Recognition found = recognise(model, "coco:" + folder_.string());
  EXPECT_EQ(found.verdict, CardVerdict::kTie) << to_text(found);
  EXPECT_THAT(found.undecided, testing::Contains(CardAxis::kLabels));
}

TEST_F(RecognitionTest, ADecoderThatPredictsTheSameIsNoOtherCard) {
  write_same_boxes(folder_, 10);
  // Queries of two classes, and normalized boxes.
  onnx_writer::Model model(13);
  model.initializer(onnx_writer::tensor<float>("value_a", {1, 2, 2}, {3, -9, -9, -9}));
  model.initializer(
      onnx_writer::tensor<float>("value_b", {1, 2, 4}, {0.375F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.1F, 0.1F}));
  const Recognition found =
      recognise(save_constants(model, {"a", "b"}, models_ / "queries.onnx"), "coco:" + folder_.string());
  EXPECT_GT(trials_of(found, "detr"), 10) << to_text(found);
  EXPECT_EQ(trials_of(found, "rtdetr"), 1);
  EXPECT_EQ(trials_of(found, "deformable-detr"), 0);
}

TEST_F(RecognitionTest, FewImagesDecideNothing) {
  write_same_boxes(folder_, 9);
  const std::string model = test::write_box_detector(models_);
  std::filesystem::remove(models_ / "boxes.toml");
  const Recognition found = recognise(model, "coco:" + folder_.string());
  EXPECT_EQ(found.verdict, CardVerdict::kFew);
  EXPECT_EQ(found.card(), nullptr);
  EXPECT_THAT(to_text(found), testing::HasSubstr("evidence in 9 images, and 10 are"));
}

TEST_F(RecognitionTest, PredictionsThatAMirroredImageContradictsAreNoEvidence) {
  for (const char* name : {"a.png", "b.png", "c.png"}) test::write_solid_image(folder_, name, 8, 8);
  const std::string model = test::write_box_detector(models_);
  std::filesystem::remove(models_ / "boxes.toml");
  const Recognition found = recognise(model, folder_.string());
  EXPECT_EQ(found.verdict, CardVerdict::kNone);
  EXPECT_EQ(found.card(), nullptr);
  EXPECT_LE(found.trials.front().evidence, 0);
  EXPECT_THAT(to_text(found), testing::HasSubstr("none: with no card"));
  EXPECT_EQ(found.least, 0.3);
}

TEST_F(RecognitionTest, ImagesWithoutPredictionsAreNoEvidence) {
  write_colors(3);
  std::filesystem::remove(folder_ / "synset.txt");
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("detections");
  model.initializer(onnx_writer::tensor<float>("far", {1, 2, 6}, {0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0}));
  model.node({.op = "ReduceMean",
              .inputs = {"image"},
              .outputs = {"one"},
              .attributes = {onnx_writer::attribute("axes", onnx_writer::Dims{0, 1, 2, 3}),
                             onnx_writer::attribute("keepdims", 0)},
              .name = "reduce"});
  model.node({.op = "Mul", .inputs = {"far", "one"}, .outputs = {"detections"}, .name = "mul"});
  model.save(models_ / "silent.onnx");
  const Recognition found = recognise(models_ / "silent.onnx", folder_.string());
  EXPECT_EQ(found.verdict, CardVerdict::kNone);
  EXPECT_EQ(found.trials.front().counted, 0);
}

TEST_F(RecognitionTest, ACertainClassOfEveryImageIsNoEvidence) {
  write_colors(12);
  std::filesystem::remove(folder_ / "synset.txt");
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("scores");
  model.initializer(onnx_writer::tensor<float>("none", {1, 3}, {0, 0, 0}));
  model.initializer(onnx_writer::tensor<float>("first", {1, 3}, {50, 0, 0}));
  model.node({.op = "ReduceMean",
              .inputs = {"image"},
              .outputs = {"one"},
              .attributes = {onnx_writer::attribute("axes", onnx_writer::Dims{0, 1, 2, 3}),
                             onnx_writer::attribute("keepdims", 0)},
              .name = "reduce"});
  model.node({.op = "Mul", .inputs = {"none", "one"}, .outputs = {"zeros"}, .name = "mul"});
  model.node({.op = "Add", .inputs = {"zeros", "first"}, .outputs = {"logits"}, .name = "add"});
  model.node({.op = "Softmax", .inputs = {"logits"}, .outputs = {"scores"}, .name = "softmax"});
  model.save(models_ / "certain.onnx");
  const Recognition found = recognise(models_ / "certain.onnx", folder_.string());
  EXPECT_EQ(found.verdict, CardVerdict::kNone) << to_text(found);
  EXPECT_EQ(found.trials.front().counted, 12);
}

TEST_F(RecognitionTest, UnlabelledColorsAreEvidence) {
  write_colors(12);
  const Recognition found = recognise(write_bare_classifier(), folder_.string());
  EXPECT_GT(found.trials.front().evidence, 0.1) << to_text(found);
}

TEST_F(RecognitionTest, TellsWhatItCannotUse) {
  write_colors(3);
  const std::string model = write_bare_classifier();
  expect_error([&] { recognise(model, "coco:" + folder_.string()); }, {"instances"});
  expect_error([&] { recognise(model, models_.string()); }, {models_.string(), "no folder with images"});
  expect_error([&] { recognise(model, "voc:" + folder_.string()); }, {"voc"});
  expect_error([&] { recognise(test::write_brightness_depth(models_), "imagenet:" + folder_.string()); },
               {"depth", "no decoder"});
}

TEST_F(RecognitionTest, ReportsEveryCard) {
  write_colors(6);
  const Recognition found = recognise(write_bare_classifier(), "imagenet:" + folder_.string());
  const auto json = nlohmann::json::parse(to_json(found));
  EXPECT_EQ(json.at("trials").size(), found.trials.size());
  EXPECT_EQ(json.at("images"), 6);
  EXPECT_TRUE(json.at("trials")[0].contains("top1"));
  EXPECT_TRUE(json.at("undecided").is_array());
  EXPECT_EQ(json.at("card").is_null(), json.at("chosen").is_null());
  EXPECT_THAT(to_text(found), testing::HasSubstr("rgb"));
}

Graph graph_of_image(DType type) {
  Graph graph;
  graph.add_input("images", {type, {1, 3, 640, 640}});
  return graph;
}

Card card_of_image() {
  Card card;
  card.input = "images";
  card.width = card.height = 640;
  return card;
}

TEST(CardVariants, IntegersAreRawPixels) {
  Card card = card_of_image();
  for (const auto& [type, middle] : {std::pair{DType::kUInt8, 0.0F}, {DType::kInt8, 128.0F}}) {
    card.mean = {middle, middle, middle};
    const std::vector<Card> cards = with_each_normalization(card, graph_of_image(type));
    ASSERT_EQ(cards.size(), 2U);
    EXPECT_EQ(cards[1].color, ChannelOrder::kBgr);
    EXPECT_EQ(cards[1].mean[0], middle);
  }
}

TEST(CardVariants, DetectorsDoNotHaveClipsNormalization) {
  Card card = card_of_image();
  const Graph graph = graph_of_image(DType::kFloat32);
  const auto has_clip = [&] {
    return std::ranges::any_of(with_each_normalization(card, graph),
                               [](const Card& each) { return summary_of(each).find("CLIP") != std::string::npos; });
  };
  EXPECT_FALSE(has_clip());
  card.heads.front().decoder = find_decoder("classify");
  EXPECT_TRUE(has_clip());
}

TEST(CardVariants, NumberClassesInOrderAndById) {
  Card card = card_of_image();
  card.heads.front() = {.decoder = find_decoder("tensorflow"), .labels = {"0", "1"}};
  ASSERT_TRUE(has_unknown_classes(card));
  const std::vector<Card> cards = with_each_numbering(card, {{4, "b"}, {2, "a"}});
  ASSERT_EQ(cards.size(), 3U);
  EXPECT_EQ(to_toml(cards[0]), to_toml(card));
  EXPECT_THAT(cards[1].head().labels, testing::ElementsAre("a", "b"));
  EXPECT_TRUE(cards[1].head().remap.empty());
  EXPECT_FALSE(has_unknown_classes(cards[1]));
  // TensorFlow's IDs begin with 1.
  EXPECT_THAT(cards[2].head().remap, testing::ElementsAre(-1, 0, -1, 1));
  EXPECT_TRUE(with_each_numbering(cards[2], {{4, "b"}, {2, "a"}})[1].head().remap.empty());
  EXPECT_EQ(with_each_numbering(card, {{1, "a"}, {2, "b"}}).size(), 2U);
  EXPECT_EQ(with_each_numbering(card, {{0, "a"}, {2, "b"}}).size(), 2U);
  EXPECT_EQ(with_each_numbering(card, {}).size(), 1U);
}

TEST(CardVariants, NumberClassesAfterABackground) {
  Card card = card_of_image();
  card.heads.front() = {.decoder = find_decoder("yolo-e2e"), .labels = {"0", "1"}};
  const std::vector<Card> cards = with_each_numbering(card, {{4, "b"}, {2, "a"}});
  ASSERT_EQ(cards.size(), 4U);
  EXPECT_THAT(cards[2].head().remap, testing::ElementsAre(-1, 0, 1));
  EXPECT_THAT(cards[3].head().remap, testing::ElementsAre(-1, -1, 0, -1, 1));
  EXPECT_EQ(with_each_numbering(card, {{1, "a"}, {2, "b"}}).size(), 3U);
}

TEST(CardVariants, AreDistinctAndBeginWithTheCard) {
  const Card card = card_of_image();
  for (const std::vector<Card>& cards : {with_each_normalization(card, graph_of_image(DType::kFloat32)),
                                         with_each_resize(card), with_each_interpolation(card)}) {
    EXPECT_EQ(to_toml(cards.front()), to_toml(card));
    std::vector<std::string> texts;
    texts.reserve(cards.size());
    for (const Card& each : cards) texts.push_back(to_toml(each));
    std::ranges::sort(texts);
    EXPECT_EQ(std::ranges::adjacent_find(texts), texts.end());
    EXPECT_GT(cards.size(), 2U);
  }
}

TEST(CardVariants, NameTheUsualNormalizations) {
  Card card;
  card.width = card.height = 224;
  card.scale = 1;
  card.color = ChannelOrder::kBgr;
  card.mean = {104, 117, 123};
  EXPECT_THAT(summary_of(card), testing::HasSubstr("bgr, Caffe's mean"));
  card.scale = 0.5F;
  EXPECT_THAT(summary_of(card), testing::HasSubstr("scale 0.5"));
}

}  // namespace
}  // namespace saccade
