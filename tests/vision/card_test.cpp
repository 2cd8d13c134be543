#include "card_models.hpp"
#include "saccade/unrecognised_model.hpp"
#include "vision/cards/card_file.hpp"

namespace saccade::test {
namespace {

TEST(Recognition, TakesEightyRowsOfClassesForYolov8) {
  const Card card = card_for(model({1, 3, 640, 640}, {1, 84, 8400}), {});
  EXPECT_EQ(card.head().decoder->name, "yolov8");
  EXPECT_EQ(card.head().classes, 80);
  EXPECT_EQ(card.head().labels[5], "bus");
  EXPECT_EQ(card.resize, ResizeMode::kLetterbox);
  EXPECT_EQ(card.pad, (std::array{114, 114, 114}));
  EXPECT_FLOAT_EQ(card.scale, 1.0F / 255);
}

TEST(Recognition, DistinguishesYolov5FromYoloxByTheirAnchors) {
  EXPECT_EQ(card_for(model({1, 3, 640, 640}, {1, 25200, 85}), {}).head().decoder->name, "yolov5");
  // One anchor per cell is ambiguous: a raw head ends in convolutions and sigmoids only.
  EXPECT_EQ(card_for(model({1, 3, 416, 416}, {1, 3549, 85}), {}).head().decoder->name, "yolov5");
  Graph raw;
  const ValueId image = raw.add_input("images", {DType::kFloat32, {1, 3, 416, 416}});
  const auto node = [&](const char* op, std::vector<ValueId> inputs, const Shape& shape) {
    const ValueId out = raw.add_value(op, {DType::kFloat32, shape});
    raw.add_node({.op = op, .name = op, .inputs = std::move(inputs), .outputs = {out}});
    return out;
  };
  const ValueId boxes = node("Conv", {image}, {1, 4, 3549});
  const ValueId scores = node("Sigmoid", {image}, {1, 81, 3549});
  const ValueId rows = node("Concat", {boxes, scores}, {1, 85, 3549});
  raw.add_output(node("Transpose", {rows}, {1, 3549, 85}));
  const Card card = card_for(raw, {});
  EXPECT_EQ(card.head().decoder->name, "yolox");
  EXPECT_EQ(card.head().strides, (std::vector{8, 16, 32}));
  EXPECT_EQ(card.color, ChannelOrder::kBgr);
}

TEST(Recognition, TakesSixColumnsForChosenBoxes) {
  const Card card = card_for(model({1, 3, 640, 640}, {1, 300, 6}), {});
  EXPECT_EQ(card.head().decoder->name, "yolo-e2e");
  EXPECT_EQ(card.head().labels[7], "7");
}

TEST(Recognition, TakesAVectorForClasses) {
  const Card card = card_for(model({1, 3, 224, 224}, {1, 1000, 1, 1}), {});
  EXPECT_EQ(card.head().decoder->name, "classify");
  EXPECT_EQ(card.resize_to, 256);
  EXPECT_EQ(card.interpolation, Interpolation::kBilinearAntialias);
  EXPECT_TRUE(card.head().softmax);
  EXPECT_FALSE(card.assumptions.empty());
}

TEST(Recognition, BelievesUltralyticsMetadata) {
  Graph graph = model({1, 3, 640, 640}, {1, 6, 8400});
  graph.metadata = {{"task", "detect"}, {"names", "{0: 'cat', 1: 'dog'}"}};
  const Card card = card_for(graph, {});
  EXPECT_EQ(card.head().decoder->name, "yolov8");
  EXPECT_EQ(card.head().labels, (std::vector<std::string>{"cat", "dog"}));
  graph.metadata["task"] = "pose";
  EXPECT_NE(message_of([&] { card_for(graph, {}); }).find("'pose'"), std::string::npos);
}

/// Its semantic and depth networks take pixels of 0..1, letterboxed or stretched, and the depth is in metres.
TEST(Recognition, TakesUltralyticsPixelsForItsMaps) {
  const auto of = [](Graph graph, const std::string& task) {
    graph.metadata = {{"task", task}, {"names", "{0: 'road', 1: 'sky'}"}};
    return card_for(graph, {});
  };
  const Card classes = of(model({1, 3, 512, 1024}, {1, 512, 1024}), "semantic");
  EXPECT_EQ(classes.head().decoder->name, "semantic");
  EXPECT_EQ(classes.head().labels, (std::vector<std::string>{"road", "sky"}));
  EXPECT_EQ(classes.resize, ResizeMode::kLetterbox);
  const Card depth = of(model({1, 3, 640, 640}, {1, 1, 640, 640}), "depth");
  EXPECT_EQ(depth.head().decoder->name, "depth");
  EXPECT_EQ(depth.head().depth, DepthKind::kMetric);
  EXPECT_EQ(depth.resize, ResizeMode::kStretch);
  for (const Card& card : {classes, depth}) {
    EXPECT_EQ(card.mean, (std::array<float, 3>{0, 0, 0}));
    EXPECT_EQ(card.std, (std::array<float, 3>{1, 1, 1}));
    EXPECT_FLOAT_EQ(card.scale, 1.0F / 255);
  }
}

/// YOLO-World and YOLOE are exported with the classes of their prompts.
TEST(Recognition, BelievesTheMetadataOfOpenVocabularies) {
  const auto of = [](Graph graph, const std::string& task, const std::string& head) {
    graph.metadata = {{"task", task}, {"head", head}, {"names", "{0: 'red bus', 1: \"driver's cab\", 2: 'kerb'}"}};
    return card_for(graph, {});
  };
  const Shape k640{1, 3, 640, 640};
  const Card world = of(model(k640, {1, 7, 8400}), "detect", "WorldDetect");
  EXPECT_EQ(world.head().decoder->name, "yolov8");
  EXPECT_EQ(world.head().labels, (std::vector<std::string>{"red bus", "driver's cab", "kerb"}));
  const Card masks = of(also(model(k640, {1, 39, 8400}), "output1", {1, 32, 160, 160}), "segment", "YOLOESegment");
  EXPECT_EQ(masks.head().decoder->name, "yolov8-seg");
  EXPECT_EQ(masks.head().classes, 3);
  const Card chosen = of(also(model(k640, {1, 300, 38}), "output1", {1, 32, 160, 160}), "segment", "YOLOESegment26");
  EXPECT_EQ(chosen.head().decoder->name, "yolo-e2e-seg");
  EXPECT_EQ(chosen.head().labels.size(), 3U);
}

TEST(Recognition, FindsTheTaskThatMetadataLeavesOut) {
  const auto of = [](Graph graph) {
    graph.metadata = {{"stride", "32"}, {"names", "{0: 'cat', 1: 'dog'}"}};
    return card_for(graph, {});
  };
  EXPECT_EQ(of(model({1, 3, 640, 640}, {1, 25200, 7})).head().decoder->name, "yolov5");
  const Card masks = of(also(model({1, 3, 640, 640}, {1, 25200, 39}), "output1", {1, 32, 160, 160}));
  EXPECT_EQ(masks.head().decoder->name, "yolov5-seg");
  EXPECT_EQ(masks.head().labels[1], "dog");
  const Card classes = of(model({1, 3, 224, 224}, {1, 2}));
  EXPECT_EQ(classes.head().decoder->name, "classify");
  EXPECT_EQ(classes.resize_to, 224);
  EXPECT_NEAR(classes.mean[0], 0.485, 1e-6);
  const std::string message = message_of([&] { of(model({1, 3, 640, 640}, {1, 25200, 9})); });
  EXPECT_NE(message.find("names 2 classes and no task"), std::string::npos) << message;
}

TEST(Recognition, DoesNotTakeKeypointsForClasses) {
  const Card card = card_for(model({1, 3, 640, 640}, {1, 56, 8400}), {});
  EXPECT_EQ(card.head().decoder->name, "yolov8-pose");
  EXPECT_EQ(card.head().keypoints, 17);
  EXPECT_EQ(card.head().labels, (std::vector<std::string>{"person"}));
  EXPECT_THROW(card_for(model({1, 3, 640, 640}, {1, 57, 8400}), {}), Error);
}

/// The template for MODEL, which is not recognised.
std::string template_of(const Graph& graph, const std::string& path) {
  try {
    card_for(graph, path);
    ADD_FAILURE() << path << " is recognised";
    return {};
  } catch (const UnrecognisedModel& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    EXPECT_NE(std::string_view(error.what()).find("seg.toml"), std::string_view::npos) << error.what();
    return error.card();
  }
}

TEST(Recognition, ShowsTheCardToWrite) {
  const std::string card = template_of(model({1, 3, 64, 64}, {1, 21, 5, 9}), "nets/seg.onnx");
  EXPECT_NE(card.find("#   output output0: float32 1x21x5x9\n"), std::string::npos) << card;
  EXPECT_NE(card.find("\n[input]\nname = \"images\"\n"), std::string::npos) << card;
  EXPECT_NE(card.find("\nsize = [64, 64]\n"), std::string::npos) << card;
}

TEST_F(CardFiles, ATemplateIsAValidCardOfTheFirstDecoderThatFits) {
  const Graph graph = model({1, 3, 64, 64}, {1, 6, 84});
  const std::string card = template_of(graph, "seg.onnx");
  EXPECT_NE(card.find("decoder = \"yolov8\""), std::string::npos) << card;
  EXPECT_NE(card.find("# labels = [\"first\", \"second\"]  # 2 names"), std::string::npos) << card;
  EXPECT_EQ(load(graph, card).head().classes, 2);
}

TEST_F(CardFiles, HoldTheIouThresholdOfNms) {
  const Graph graph = model({1, 3, 640, 640}, {1, 84, 8400});
  EXPECT_EQ(load(graph, "[output]\niou = 0.5\n").head().iou, 0.5F);
  EXPECT_EQ(load(graph, to_toml(load(graph, "[output]\niou = 0.5\n"))).head().iou, 0.5F);
  EXPECT_FALSE(load(graph, "[output]\nconf = 0.5\n").head().iou.has_value());
  EXPECT_NE(message_of([&] { load(graph, "[output]\niou = 1.5\n"); }).find("'output.iou' must be a number in 0..1"),
            std::string::npos);
  const Graph selected = model({1, 3, 640, 640}, {1, 300, 6});
  EXPECT_NE(message_of([&] { load(selected, "[output]\niou = 0.5\n"); }).find("'output.iou' is not read by"),
            std::string::npos);
}

TEST(Recognition, KeepsPixelsUnscaledForIntegerInputs) {
  for (const Shape& output : {Shape{1, 84, 8400}, Shape{1, 1000}}) {
    const Card card = card_for(model({1, 3, 640, 640}, output, DType::kUInt8), {});
    EXPECT_EQ(card.scale, 1);
    EXPECT_EQ(card.mean, (std::array<float, 3>{0, 0, 0}));
    EXPECT_EQ(card.std, (std::array<float, 3>{1, 1, 1}));
    EXPECT_EQ(card_for(model({1, 3, 640, 640}, output, DType::kInt8), {}).mean[0], 128);
  }
}

TEST(Recognition, RejectsOtherInputs) {
  EXPECT_THROW(card_for(model({1, 5, 64, 64}, {1, 10}), {}), Error);
  EXPECT_THROW(card_for(model({4, 3, 64, 64}, {4, 10}), {}), Error);
  EXPECT_THROW(card_for(model({1, 3, 1, 1}, {1, 10}), {}), Error);
  Graph two = model({1, 3, 640, 640}, {1, 84, 8400});
  two.add_input("sizes", {DType::kInt64, {1, 2}});
  EXPECT_NE(message_of([&] { card_for(two, {}); }).find("2 inputs"), std::string::npos);
}

TEST(Recognition, InterpolatesAsAFamilyWasTrained) {
  const auto usual = [](const char* decoder) {
    Card card;
    find_decoder(decoder)->usual_pixels(card);
    return card.interpolation;
  };
  for (const char* decoder :
       {"yolov8", "yolox", "scrfd", "efficientdet", "torchvision", "mask-rcnn", "semantic", "depth"})
    EXPECT_EQ(usual(decoder), Interpolation::kBilinear) << decoder;
  for (const char* decoder :
       {"classify", "detr", "rtdetr", "deformable-detr", "detr-e2e", "rfdetr", "rfdetr-seg", "ssd-zoo"})
    EXPECT_EQ(usual(decoder), Interpolation::kBilinearAntialias) << decoder;
  for (const char* decoder : {"ppyoloe", "ppyoloe-e2e", "picodet", "picodet-e2e", "picodet-heads"})
    EXPECT_EQ(usual(decoder), Interpolation::kBicubic) << decoder;
  EXPECT_EQ(usual("keras-yolov3"), Interpolation::kBicubicAntialias);
}

TEST(Recognition, TellsYolov5sClassifiersFromUltralytics) {
  Graph graph = model({1, 3, 224, 224}, {1, 2});
  graph.metadata["names"] = "{0: 'cat', 1: 'dog'}";
  EXPECT_EQ(card_for(graph, {}).interpolation, Interpolation::kBilinear);
  graph.metadata["task"] = "classify";
  EXPECT_EQ(card_for(graph, {}).interpolation, Interpolation::kBilinearAntialias);
}

TEST_F(CardFiles, OverrideWhatWasRecognised) {
  const Card card = load(model({1, 3, 640, 640}, {1, 84, 8400}), R"([input]
color = "bgr"
resize = "letterbox-topleft"
pad = 7
interpolation = "area"
scale = 1
mean = [1, 2.5, 3]
roi = [10, 20, 30, 40]
[output]
multi_label = true
)");
  EXPECT_EQ(card.head().decoder->name, "yolov8");
  EXPECT_EQ(card.color, ChannelOrder::kBgr);
  EXPECT_EQ(card.resize, ResizeMode::kLetterboxTopLeft);
  EXPECT_EQ(card.pad, (std::array{7, 7, 7}));
  EXPECT_EQ(card.interpolation, Interpolation::kArea);
  EXPECT_EQ(card.scale, 1.0F);
  EXPECT_EQ(card.mean, (std::array{1.0F, 2.5F, 3.0F}));
  EXPECT_EQ(card.roi->width, 30);
  EXPECT_TRUE(card.head().multi_label);
  EXPECT_EQ(card.head().labels.size(), 80U);
}

TEST_F(CardFiles, ScalePixelsOfIntegerInputsToo) {
  const Graph graph = model({1, 3, 640, 640}, {1, 84, 8400}, DType::kUInt8);
  EXPECT_EQ(load(graph, "[output]\ndecoder = \"yolov8\"\n").scale, 1);
  const Card card = load(graph, "[input]\nscale = 0.5\nmean = 3\n");
  EXPECT_EQ(card.scale, 0.5F);
  EXPECT_EQ(card.mean[2], 3);
}

TEST_F(CardFiles, DescribeAModelThatIsNotRecognised) {
  write("red\ngreen\n", "names.txt");
  const Card card = load(model({1, 3, 64, 64}, {1, 6, 84}), R"(task = "detect"
[output]
decoder = "yolov8"
labels = "names.txt"
)");
  EXPECT_EQ(card.head().classes, 2);
  EXPECT_EQ(card.head().labels, (std::vector<std::string>{"red", "green"}));
}

TEST_F(CardFiles, KnowBetterThanTheOutput) {
  const Graph graph = model({1, 3, 64, 64}, {1, 10});
  EXPECT_TRUE(load(graph, "[output]\ndecoder = \"classify\"\n").head().softmax);
  EXPECT_FALSE(load(graph, "[output]\ndecoder = \"classify\"\nsoftmax = false\n").head().softmax);
  EXPECT_FALSE(load(graph, "[output]\nname = \"output0\"\nsoftmax = false\n").head().softmax);
  Graph plane = model({1, 3, 64, 64}, {1, 1, 64, 64});
  plane.value(plane.outputs()[0]).name = "disparity";
  EXPECT_EQ(load(plane, "[output]\ndepth = \"relative\"\n").head().depth, DepthKind::kRelative);
}

TEST_F(CardFiles, SayThatTheScoresAreLogits) {
  const Card card = load(model({1, 3, 64, 64}, {1, 10}), "[output]\nsigmoid = true\n");
  EXPECT_TRUE(card.head().sigmoid);
  EXPECT_FALSE(card.head().softmax);
}

TEST_F(CardFiles, LieBesideTheModel) {
  write("[input]\ncolor = \"bgr\"\n", "net.toml");
  EXPECT_EQ(card_for(model({1, 3, 640, 640}, {1, 84, 8400}), folder_ / "net.onnx").color, ChannelOrder::kBgr);
}

TEST_F(CardFiles, ReadBackWhatWasPrinted) {
  const Graph graph = model({1, 3, 640, 640}, {1, 84, 8400});
  const Card card = card_for(graph, {});
  EXPECT_EQ(to_toml(load(graph, to_toml(card))), to_toml(card));
}

TEST_F(CardFiles, NameKeyAndLineOfWhatIsWrong) {
  const Graph graph = model({1, 3, 640, 640}, {1, 84, 8400});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[input]\n\ncolour = 1\n", "card.toml:3: 'input.colour' is not a key"},
      {"speed = 1\n", "card.toml:1: 'speed' is not a key"},
      {"[input]\ncolor = \"red\"\n", "card.toml:2: 'input.color' must be one of rgb, bgr, gray"},
      {"[input]\ncolor = 3\n", "'input.color' must be a string"},
      {"[input]\nsize = [1, 2, 3]\n", "'input.size' must be a list of 2"},
      {"[input]\npad = 300\n", "card.toml:2: 'input.pad' must be an integer in 0..255"},
      {"[input]\npad = [1, 2, 300]\n", "'input.pad' must be a list of integers in 0..255"},
      {"[input]\nstd = 0\n", "'input.std' must be other than 0"},
      {"[input]\nscale = nan\n", "'input.scale' must be a number"},
      {"[input]\nscale = 1e300\n", "'input.scale' must be a number in the float32 range"},
      {"[input]\nmean = [0, 0, 1e39]\n", "'input.mean' must be a number in the float32 range"},
      {"[input]\nscale = 0\n", "card.toml:2: 'input.scale' must be other than 0"},
      {"[input]\nroi = [0, 0, 0, 5]\n", "'input.roi'"},
      {"input = 3\n", "'input' must be a table"},
      {"[output]\ndecoder = \"yolov99\"\n", "card.toml:2: 'output.decoder' must be one of yolov8"},
      {"[output]\nanchors = [10, 13, 16]\n", "'output.anchors' must be a list of widths and heights"},
      {"[output]\nanchors = [10, -13]\n", "'output.anchors' must be a list of widths and heights"},
      {"[output]\nconf = 2\n", "'output.conf' must be a number in 0..1"},
      {"[output]\nremap = [-2]\n", "'output.remap' must be a list of integers in -1"},
      {"[output]\nremap = [0, 1]\n", "'output.remap' maps 2 classes, but the output 'output0' has 80"},
      {"[output]\ndepth = \"near\"\n", "'output.depth' must be one of relative, metric, inverse"},
      {"[output]\nname = [1]\n", "'output.name' must be a string or a list of strings"},
      {"[[output]]\n[[output]]\n", "each of several outputs must name its decoder"},
      {"[output]\nlabels = [1]\n", "'output.labels'"},
      {"[output]\nanchors = 3\n", "card.toml:2: 'output.anchors' must be a list"},
      {"[output]\nanchors = []\n", "'output.anchors' must be a list of widths and heights"},
      {"[output]\nanchors = [[10, 13], [\"a\", 2]]\n", "'output.anchors' must be a number"},
      {"[output]\ndecoder = \"yolov3\"\nanchors = [10, 13]\n", "the decoder yolov3 matches no output"},
      {"[output]\nconf = []\n", "'output.conf' must be a number in 0..1"},
      {"[output]\n\nconf = \"high\"\n", "card.toml:3: 'output.conf' must be a number"},
      {"[output]\nconf = [0.5, 0.6]\n", "'output.conf' has 2 thresholds, but there are 80 classes"},
      {"[output]\nremap = []\n", "'output.remap' must be a list of at least one integer"},
      {"[output]\nremap = 1\n", "card.toml:2: 'output.remap' must be a list"},
      {"[output]\nremap = [0.5]\n", "'output.remap' must be a list of integers in -1"},
      {"[output]\nsigmoid = 1\n", "card.toml:2: 'output.sigmoid' must be true or false"},
      {"[output]\nsigmoid = \"yes\"\n", "'output.sigmoid' must be true or false"},
      {"[output]\nsoftmax = true\nsigmoid = true\n", "'output.softmax' and 'output.sigmoid' exclude each other"},
      {"[output]\nlabels = \"none.txt\"\n", "none.txt"},
      {"[output]\nmulti_label = 1\n", "'output.multi_label' must be true or false"},
      {"[output\n", "card.toml:1"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(rejection(graph, text).find(expected), std::string::npos) << text << " -> " << rejection(graph, text);
}

TEST_F(CardFiles, NameTheBackgroundOfAClassMap) {
  const Graph voc = model({1, 3, 512, 512}, {1, 21, 512, 512});
  const std::string semantic = "[output]\ndecoder = \"semantic\"\n";
  EXPECT_EQ(load(voc, semantic).head().background, 0) << "by VOC's labels";
  EXPECT_EQ(load(voc, semantic + "background = -1\n").head().background, -1);
  const Graph two = model({1, 3, 64, 64}, {1, 2, 64, 64});
  const std::string labels = semantic + "labels = [\"road\", \"__background__\"]\n";
  EXPECT_EQ(load(two, labels).head().background, -1);
  const Card card = load(two, labels + "background = 1\n");
  EXPECT_EQ(card.head().background, 1);
  EXPECT_EQ(load(two, to_toml(card)).head().background, 1);
  EXPECT_NE(rejection(two, labels + "background = 2\n").find("'output.background' is 2, but there are 2 classes"),
            std::string::npos);
  EXPECT_NE(rejection(two, labels + "background = -2\n").find("'output.background' must be an integer in -1.."),
            std::string::npos);
}

TEST_F(CardFiles, DescribeSeveralHeads) {
  Graph graph = model({1, 3, 64, 64}, {1, 6, 84});
  const ValueId plane = graph.add_value("far", {DType::kFloat32, {1, 1, 32, 32}});
  graph.add_node({.op = "Conv", .name = "far", .inputs = {graph.inputs()[0]}, .outputs = {plane}});
  graph.add_output(plane);
  const std::string text = R"([[output]]
decoder = "yolov8"
name = "output0"
labels = ["cat", "dog"]
conf = [0.3, 0.6]
[[output]]
decoder = "depth"
name = "far"
depth = "metric"
)";
  const Card card = load(graph, text);
  ASSERT_EQ(card.heads.size(), 2U);
  EXPECT_EQ(card.task(), Task::kDetect);
  EXPECT_EQ(card.heads[0].conf, (std::vector{0.3F, 0.6F}));
  EXPECT_EQ(card.heads[1].depth, DepthKind::kMetric);
  EXPECT_EQ(to_toml(load(graph, to_toml(card))), to_toml(card));
}

TEST_F(CardFiles, NameADecoderForEachHead) {
  const Graph unknown = model({1, 3, 64, 64}, {1, 21, 5, 9});
  const std::string message = rejection(unknown, "[[output]]\ndecoder = \"depth\"\n[[output]]\n");
  EXPECT_NE(message.find("card.toml: each of several outputs must name its decoder"), std::string::npos) << message;
}

TEST_F(CardFiles, MustExist) {
  EXPECT_THROW(card_for(model({1, 3, 640, 640}, {1, 84, 8400}), {}, folder_ / "missing.toml"), Error);
}

TEST(CardSchema, StandsInTheDocumentation) {
  std::ifstream file(SACCADE_SOURCE "/docs/cards.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool holds = text.find(card_schema()) != std::string::npos && text.find(decoder_schema()) != std::string::npos;
  EXPECT_TRUE(holds) << "docs/cards.md should hold:\n" << card_schema() << "\n" << decoder_schema();
}

TEST(FindClasses, TakesNamesAndNumbers) {
  const Card card = card_for(model({1, 3, 640, 640}, {1, 84, 8400}), {});
  EXPECT_EQ(find_classes(card, {"person", "2", "traffic light"}), (std::vector{0, 2, 9}));
  EXPECT_THROW(find_classes(card, {"persons"}), Error);
  EXPECT_THROW(find_classes(card, {"80"}), Error);
  EXPECT_THROW(find_classes(card, {"-1"}), Error);
}

}  // namespace
}  // namespace saccade::test
