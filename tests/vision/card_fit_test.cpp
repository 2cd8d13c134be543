#include "card_models.hpp"

// Combining a card with its model.
namespace saccade::test {
namespace {

class CardFits : public CardFiles {};

TEST_F(CardFits, NameTheClassesThatADecoderWouldMapItself) {
  Graph graph = model({1, 3, 512, 512}, {1, 49104, 4});
  const ValueId scores = graph.add_value("classification", {DType::kFloat32, {1, 49104, 90}});
  graph.add_node({.op = "Sigmoid", .name = "scores", .inputs = {graph.inputs()[0]}, .outputs = {scores}});
  graph.add_output(scores);
  const Card recognised = card_for(graph, {});
  EXPECT_EQ(recognised.head().decoder->name, "efficientdet");
  EXPECT_EQ(recognised.head().labels.size(), 80U);
  EXPECT_EQ(recognised.head().remap.size(), 90U);
  std::string labels;
  for (int i = 0; i < 90; ++i) labels += "\"part " + std::to_string(i) + "\", ";
  const Card card = load(graph, "[output]\nlabels = [" + labels + "]\n");
  EXPECT_TRUE(card.head().remap.empty());
  EXPECT_EQ(card.head().labels[89], "part 89");
}

/// Their number was only assumed: the card may say otherwise.
TEST_F(CardFits, NameTheClassesThatTheOutputDoesNotTell) {
  Graph chosen;
  chosen.add_input("images", {DType::kFloat32, {1, 3, 640, 640}});
  chosen.add_input("orig_target_sizes", {DType::kInt64, {1, 2}});
  for (const auto& [name, shape] : {std::pair{"labels", Shape{1, 300}}, {"boxes", {1, 300, 4}}, {"scores", {1, 300}}})
    chosen = also(std::move(chosen), name, shape);
  Graph people = model({1, 3, 640, 640}, {1, 300, 57});
  for (const auto& [graph, decoder, usual] : {std::tuple{&chosen, "detr-e2e", 80}, {&people, "yolo-e2e-pose", 1}}) {
    EXPECT_EQ(card_for(*graph, {}).head().classes, usual) << decoder;
    for (const std::string& named : {std::string(), "decoder = \"" + std::string(decoder) + "\"\n"}) {
      const Card labelled = load(*graph, "[output]\n" + named + "labels = [\"a\", \"b\", \"c\"]\n");
      EXPECT_EQ(labelled.head().decoder->name, decoder);
      EXPECT_EQ(labelled.head().classes, 3);
      const Card mapped = load(*graph, "[output]\n" + named + "remap = [0, 0, 1, -1]\n");
      EXPECT_EQ(mapped.head().output_classes(), 4);
      EXPECT_EQ(mapped.head().classes, 2);
    }
  }
}

TEST_F(CardFits, TellClassesFromPoints) {
  Graph graph = model({1, 3, 640, 640}, {1, 4 + 2 + 3 * 17, 8400});
  const std::string pose = "[output]\ndecoder = \"yolov8-pose\"\n";
  const Card labelled = load(graph, pose + "labels = [\"cat\", \"dog\"]\n");
  EXPECT_EQ(labelled.head().classes, 2);
  EXPECT_EQ(labelled.head().keypoints, 17);
  EXPECT_EQ(load(graph, pose + "remap = [-1, 0]\nlabels = [\"dog\"]\n").head().keypoints, 17);
  graph.metadata["names"] = "['cat', 'dog']";
  EXPECT_EQ(load(graph, pose).head().labels, (std::vector<std::string>{"cat", "dog"}));
}

TEST_F(CardFits, MayNotContradictTheModel) {
  const Graph graph = model({1, 3, 640, 640}, {1, 84, 8400});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[input]\nsize = [320, 320]\n", "the model takes 640x640"},
      {"[input]\nname = \"x\"\n", "'images', not 'x'"},
      {"[input]\ncolor = \"gray\"\n", "three channels"},
      {"task = \"classify\"\n", "'classify'"},
      {"[output]\nname = \"boxes\"\n", "the model has no output 'boxes': it has output0 (1x84x8400)"},
      {"[output]\nname = [\"output0\", \"boxes\"]\n", "the model has no output 'boxes'"},
      {"[output]\ndecoder = \"yolo-e2e\"\n", "matches no output"},
      {"[output]\nlabels = [\"one\"]\n", "80 classes"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(rejection(graph, text).find(expected), std::string::npos) << text << " -> " << rejection(graph, text);
}

TEST_F(CardFits, NameTheShapesThatADecoderTakes) {
  const Graph graph = model({1, 3, 640, 640}, {1, 2, 3, 4, 5});
  for (const Decoder* decoder : decoders()) {
    const std::string name(decoder->name);
    ASSERT_FALSE(decoder->shapes.empty()) << name;
    EXPECT_EQ(rejection(graph, "[output]\ndecoder = \"" + name + "\"\n"),
              (folder_ / "card.toml") + ": the decoder " + name + " matches no output of the model: it takes " +
                  std::string(decoder->shapes) + ", but the model has output0 (1x2x3x4x5)");
  }
}

/// Outputs of another family with as many columns: its boxes would be read as others.
TEST_F(CardFits, RefuseHeadsOfOtherFamilies) {
  const Shape k640{1, 3, 640, 640};
  const Graph v8_masks = also(model(k640, {1, 300, 116}), "output1", {1, 32, 160, 160});
  const Graph v5_masks = also(model(k640, {1, 25200, 38}), "output1", {1, 32, 160, 160});
  const std::vector<std::pair<std::string, Graph>> cases = {
      {"yolov8", model(k640, {1, 300, 84})},
      {"yolov8", model(k640, {1, 8400, 84})},
      {"yolov8-seg", v8_masks},
      {"yolov8-pose", model(k640, {1, 300, 56})},
      {"yolov8-obb", model(k640, {1, 300, 20})},
      {"yolov5", model(k640, {1, 300, 85})},
      {"yolov5", model({1, 3, 320, 320}, {1, 300, 85})},
      {"yolov5-seg", also(model(k640, {1, 300, 117}), "output1", {1, 32, 160, 160})},
      {"yolov7-pose", model(k640, {1, 300, 57})},
      {"yolox", model(k640, {1, 300, 85})},
      {"yolo-e2e", model(k640, {1, 25200, 6})},
      {"yolo-e2e-seg", v5_masks},
      {"yolo-e2e-pose", model({1, 3, 960, 960}, {1, 57375, 57})},
      {"yolo-e2e-obb", model(k640, {1, 8400, 7})},
      {"rtdetr-rows", model(k640, {1, 8400, 84})},
      {"rtdetr-e2e", model(k640, {1, 25200, 6})},
      {"keras-yolov3", also(model(k640, {1, 8400, 4}), "scores", {1, 80, 8400})},
      {"ppyoloe", also(model(k640, {1, 25200, 4}), "scores", {1, 80, 25200})},
      {"picodet", also(model(k640, {1, 8400, 4}), "scores", {1, 80, 8400})},
      {"rfdetr", also(model({1, 3, 300, 300}, {1, 3000, 4}), "scores", {1, 3000, 21})},
  };
  for (const auto& [decoder, graph] : cases) {
    const std::string message = rejection(graph, "[output]\ndecoder = \"" + decoder + "\"\n");
    EXPECT_NE(message.find("the decoder " + decoder + " matches no output"), std::string::npos) << message;
  }
}

/// Other levels than the usual ones.
TEST_F(CardFits, AllowHeadsOfOtherConsecutiveStrides) {
  const std::vector<std::tuple<std::string, Shape, Shape>> cases = {
      {"yolov8", {1, 3, 640, 640}, {1, 6, 33600}},    // 4, 8, 16, 32
      {"yolov8", {1, 3, 640, 640}, {1, 6, 2000}},     // 16, 32
      {"yolov8", {1, 3, 644, 644}, {1, 6, 8683}},     // cells cut by the edge
      {"yolov5", {1, 3, 640, 640}, {1, 10000, 7}},    // five anchors of 16, 32
      {"yolov5", {1, 3, 1280, 1280}, {1, 102000, 7}}  // three anchors of 8, 16, 32, 64
  };
  for (const auto& [decoder, input, output] : cases)
    EXPECT_EQ(load(model(input, output), "[output]\ndecoder = \"" + decoder + "\"\n").head().classes, 2) << decoder;
}

TEST_F(CardFits, RefuseWhatHasNoEffectOnAClassifier) {
  const Graph graph = model({1, 3, 224, 224}, {1, 3});
  const std::string start = "[output]\ndecoder = \"classify\"\nlabels = [\"a\", \"b\", \"c\"]\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"multi_label = true\nsigmoid = true\n", "'output.multi_label' has no effect with sigmoid = true"},
      {"conf = 0.5\n", "'output.conf' has no effect on a classifier"},
      {"conf = 0.5\nsoftmax = true\n", "'output.conf' has no effect on a classifier"},
      {"conf = [0.5, 0.9, 0.1]\nsigmoid = true\n", "'output.conf' has 3 thresholds, but a classifier has one"}};
  for (const auto& [text, expected] : cases)
    EXPECT_NE(rejection(graph, start + text).find(expected), std::string::npos) << rejection(graph, start + text);
  for (const char* text : {"conf = 0.5\nsigmoid = true\n", "conf = 0.5\nmulti_label = true\n", "multi_label = true\n"})
    EXPECT_EQ(load(graph, start + text).head().labels.size(), 3U) << text;
}

/// Strides and points are determined by the output: a card may state them, but not contradict them.
TEST_F(CardFits, MayNotContradictWhatTheOutputHas) {
  const Graph people = model({1, 3, 640, 640}, {1, 56, 8400});
  const Graph fastest = also(model({1, 3, 352, 352}, {1, 22, 22, 95}), "output1", {1, 11, 11, 95});
  const Graph det = model({1, 3, 352, 352}, {1, 85, 22, 22});
  Graph faces = model({1, 3, 64, 64}, {1, 64, 1});
  for (const auto& [name, shape] : {std::pair{"s16", Shape{1, 16, 1}},
                                    {"s32", {1, 4, 1}},
                                    {"b8", {1, 64, 4}},
                                    {"b16", {1, 16, 4}},
                                    {"b32", {1, 4, 4}}})
    faces = also(std::move(faces), name, shape);
  const std::vector<std::tuple<const Graph*, std::string, std::string>> cases = {
      {&people, "keypoints = 100", "'output.keypoints' is 100, but the output 'output0' has 17"},
      {&people, "decoder = \"yolov8-pose\"\nkeypoints = 16",
       "'output.keypoints' is 16, but the output 'output0' has 17"},
      {&fastest, "decoder = \"yolo-fastest\"\nstrides = [16]",
       "'output.strides' is [16], but the output 'output0' has [16, 32]"},
      {&det, "decoder = \"fastestdet\"\nstrides = [352]",
       "'output.strides' is [352], but the output 'output0' has [16]"},
      {&faces, "decoder = \"scrfd\"\nkeypoints = 5", "'output.keypoints' is 5, but the output 'output0' has 0"},
      {&faces, "decoder = \"scrfd\"\nstrides = [8, 16]",
       "'output.strides' is [8, 16], but the output 'output0' has [8, 16, 32]"},
  };
  for (const auto& [graph, text, expected] : cases) {
    const std::string message = rejection(*graph, "[output]\n" + text + "\n");
    EXPECT_NE(message.find(expected), std::string::npos) << text << " -> " << message;
  }
  EXPECT_EQ(load(people, "[output]\nkeypoints = 17\n").head().keypoints, 17);
  EXPECT_EQ(load(det, "[output]\ndecoder = \"fastestdet\"\nstrides = [16]\n").head().strides, (std::vector{16}));
}

TEST_F(CardFits, MustHaveAsManyAnchorsAsTheLevelsTake) {
  const auto heads = [](std::int64_t first) {
    Graph graph = model({1, 3, 640, 640}, {1, 255, first, first});
    for (const std::int64_t side : {first / 2, first / 4})
      graph = also(std::move(graph), "level" + std::to_string(side), {1, 255, side, side});
    return graph;
  };
  const std::string decoder = "[output]\ndecoder = \"yolov5-heads\"\n";
  EXPECT_EQ(load(heads(80), decoder).head().anchors.size(), 18U);
  const std::string wrong = rejection(heads(80), decoder + "anchors = [10, 13]\n");
  EXPECT_NE(wrong.find("'output.anchors' has 1 sizes, which does not match the output's 3 levels"), std::string::npos)
      << wrong;
  // Strides 16, 32 and 64: no known model has them.
  const std::string missing = rejection(heads(40), decoder);
  EXPECT_NE(missing.find("strides 16, 32, 64: set 'output.anchors'"), std::string::npos) << missing;
  EXPECT_EQ(load(heads(40), decoder + "anchors = [1,1, 2,2, 3,3, 4,4, 5,5, 6,6, 7,7, 8,8, 9,9]\n").head().classes, 80);
}

TEST_F(CardFits, RejectKeysThatTheDecoderIgnores) {
  const Graph boxes = model({1, 3, 640, 640}, {1, 84, 8400});
  const Graph plane = model({1, 3, 64, 64}, {1, 1, 64, 64});
  const Graph classes = model({1, 3, 64, 64}, {1, 10});
  const std::vector<std::tuple<const Graph*, std::string, std::string, std::string>> cases = {
      {&boxes, "yolov8", "anchors", "[10, 13]"},   {&boxes, "yolov8", "strides", "[8, 16, 32]"},
      {&boxes, "yolov8", "softmax", "false"},      {&boxes, "yolov8", "sigmoid", "true"},
      {&boxes, "yolov8", "keypoints", "17"},       {&boxes, "yolov8", "depth", "\"metric\""},
      {&classes, "classify", "normalize", "true"}, {&classes, "embed", "labels", "[\"a\"]"},
      {&classes, "classify", "remap", "[0]"},      {&classes, "classify", "strides", "[8]"},
      {&plane, "depth", "labels", "[\"a\"]"},      {&plane, "depth", "sigmoid", "true"},
      {&plane, "semantic", "remap", "[0]"},        {&plane, "semantic", "conf", "0.5"},
      {&plane, "semantic", "multi_label", "true"}, {&plane, "depth", "background", "0"},
      {&plane, "depth", "map_threshold", "0.3"},   {&plane, "depth", "unclip_ratio", "1"},
      {&plane, "db", "characters", "[\"a\"]"},     {&plane, "db", "iou", "0.5"}};
  for (const auto& [graph, decoder, key, value] : cases) {
    const std::string message =
        rejection(*graph, "[output]\ndecoder = \"" + decoder + "\"\n" + key + " = " + value + "\n");
    EXPECT_NE(message.find("card.toml:3: 'output." + key + "' is not read by the decoder " + decoder),
              std::string::npos)
        << message;
    EXPECT_EQ(message.find("card.toml"), message.rfind("card.toml")) << message;
  }
  EXPECT_NE(rejection(boxes, "[output]\nstrides = [8]\n").find("not read by the decoder yolov8"), std::string::npos);
}

TEST_F(CardFits, NameOnlyOutputsThatTheDecoderReads) {
  const Graph masks =
      also(also(model({1, 3, 640, 640}, {1, 116, 8400}), "prototypes", {1, 32, 160, 160}), "level", {1, 144, 80, 80});
  Graph regions = also(also(model({1, 3, 640, 640}, {300, 4}), "scores", {300}), "masks", {300, 1, 28, 28});
  const ValueId labels = regions.add_value("labels", {DType::kInt64, {300}});
  regions.add_node({.op = "Cast", .name = "labels", .inputs = {regions.inputs()[0]}, .outputs = {labels}});
  regions.add_output(labels);
  const std::vector<std::tuple<const Graph*, std::string, std::string, std::string>> cases = {
      {&masks, "yolov8-seg", "'output0', 'prototypes', 'level'",
       "names 3 outputs, but the decoder yolov8-seg reads 2: 'output0', 'prototypes'"},
      {&masks, "yolov8", "'output0', 'prototypes'", "names 2 outputs, but the decoder yolov8 reads 1: 'output0'"},
      {&masks, "yolov8", "'output0', 'output0'", "names 2 outputs, but the decoder yolov8 reads 1: 'output0'"},
      {&regions, "torchvision", "'output0', 'scores', 'labels', 'masks'",
       "names 4 outputs, but the decoder torchvision reads 3: 'output0', 'scores', 'labels'"},
  };
  for (const auto& [graph, decoder, names, expected] : cases) {
    const std::string message = rejection(*graph, "[output]\ndecoder = '" + decoder + "'\nname = [" + names + "]\n");
    EXPECT_NE(message.find("card.toml:3: 'output.name' " + expected), std::string::npos) << message;
  }
  const Card card = load(masks, "[output]\ndecoder = 'yolov8-seg'\nname = ['output0', 'prototypes']\n");
  EXPECT_EQ(card.head().outputs, (std::vector<std::string>{"output0", "prototypes"}));
}

/// A box with a single score, or with a class chosen by the model, has no further labels.
TEST_F(CardFits, AllowMultiLabelOnlyWhereABoxHasSeveralScores) {
  const Graph boxes = model({1, 3, 640, 640}, {1, 84, 8400});
  for (const std::string decoder :
       {"yolo-e2e", "yolo-e2e-seg", "yolo-e2e-pose", "yolo-e2e-obb", "detr-e2e", "rfdetr", "rfdetr-seg", "tensorflow",
        "ssd-zoo", "tensorrt", "torchvision", "mask-rcnn", "scrfd", "yunet", "retinaface", "ultraface"}) {
    const std::string message = rejection(boxes, "[output]\ndecoder = \"" + decoder + "\"\nmulti_label = true\n");
    EXPECT_NE(message.find("card.toml:3: 'output.multi_label' is not read by the decoder " + decoder),
              std::string::npos)
        << message;
  }
  const Graph queries = also(model({1, 3, 640, 640}, {1, 300, 80}), "boxes", {1, 300, 4});
  EXPECT_TRUE(load(queries, "[output]\ndecoder = \"rtdetr\"\nmulti_label = true\n").head().multi_label)
      << "it chooses its boxes itself, but each has a score a class";
}

}  // namespace
}  // namespace saccade::test
