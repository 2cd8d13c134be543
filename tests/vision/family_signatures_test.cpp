#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "vision/cards/card.hpp"

// The names and shapes that each family's usual exporter writes, and the recognised decoder: one table, so that a new
// family shows which others it is mistaken for.
namespace saccade {
namespace {

struct NamedOutput {
  std::string name;
  Shape shape;
  std::string made_by = "Conv";
  DType type = DType::kFloat32;
};

struct Signature {
  std::string what;
  std::string decoder;  ///< empty: it needs a card
  Shape input_shape;
  std::vector<NamedOutput> outputs;
  std::string size_input;  ///< an input with the image's size
  bool cut = false;        ///< outputs have dynamic sizes
  std::string image = "images";
};

constexpr auto kInt64 = DType::kInt64;
const Shape k640{1, 3, 640, 640};

/// Outputs of three or more levels: PREFIX, then the NAMES, with the rows of strides 8, 16 and 32.
std::vector<NamedOutput> levels(std::initializer_list<std::pair<const char*, NamedOutput>> kinds, std::int64_t a_cell,
                                bool batch) {
  std::vector<NamedOutput> outputs;
  for (const auto& [prefix, output] : kinds)
    for (const int stride : {8, 16, 32}) {
      const std::int64_t rows = a_cell * (640 / stride) * (640 / stride);
      const std::int64_t numbers = output.shape.back();
      outputs.push_back({prefix + std::to_string(stride), batch ? Shape{1, rows, numbers} : Shape{rows, numbers},
                         output.made_by, output.type});
    }
  return outputs;
}

const std::vector<Signature> kSignatures = {
    {"YOLOv8, v9, v11, v12", "yolov8", k640, {{"output0", {1, 84, 8400}}}},
    {"YOLOv8-seg", "yolov8-seg", k640, {{"output0", {1, 116, 8400}}, {"output1", {1, 32, 160, 160}}}},
    {"YOLOv8-pose", "yolov8-pose", k640, {{"output0", {1, 56, 8400}}}},
    {"YOLOv5", "yolov5", k640, {{"output0", {1, 25200, 85}}}},
    {"YOLOv5 6.0",
     "yolov5",
     k640,
     {{"output", {1, 25200, 85}},
      {"327", {1, 3, 80, 80, 85}},
      {"328", {1, 3, 40, 40, 85}},
      {"329", {1, 3, 20, 20, 85}}}},
    {"YOLOv5 at 1280 with four levels", "yolov5", {1, 3, 1280, 1280}, {{"output", {1, 102000, 85}}}},
    {"YOLOv5-seg", "yolov5-seg", k640, {{"output0", {1, 25200, 117}}, {"output1", {1, 32, 160, 160}}}},
    {"YOLOv6", "yolov5", k640, {{"outputs", {1, 8400, 85}}}},
    {"YOLOv7-pose", "yolov7-pose", {1, 3, 960, 960}, {{"output", {1, 57375, 57}}}},
    {"RT-DETR of Ultralytics", "rtdetr-rows", k640, {{"output0", {1, 300, 84}, "Sigmoid"}}},
    {"rows of who knows what", "", k640, {{"output0", {1, 300, 84}}}},
    {"rows of two classes", "", k640, {{"output0", {1, 300, 6 + 1}, "Sigmoid"}}},
    {"RT-DETR of Ultralytics with its choice", "rtdetr-e2e", k640, {{"output0", {1, 300, 6}, "GridSample"}}},
    {"YOLOv10, v26", "yolo-e2e", k640, {{"output0", {1, 300, 6}}}},
    {"YOLOv26-seg", "yolo-e2e-seg", k640, {{"output0", {1, 300, 38}}, {"output1", {1, 32, 160, 160}}}},
    {"YOLOv26-pose", "yolo-e2e-pose", k640, {{"output0", {1, 300, 57}}}},
    {"YOLOv26-obb without metadata", "", k640, {{"output0", {1, 300, 7}}}},
    {"YOLOv3 of Darknet",
     "yolov3",
     {1, 3, 608, 608},
     {{"082_convolutional", {1, 255, 19, 19}},
      {"094_convolutional", {1, 255, 38, 38}},
      {"106_convolutional", {1, 255, 76, 76}}}},
    {"YOLOv3-tiny of Darknet",
     "yolov3",
     {1, 3, 416, 416},
     {{"016_convolutional", {1, 255, 13, 13}}, {"023_convolutional", {1, 255, 26, 26}}}},
    {"YOLOv4 of Darknet",
     "",
     {1, 3, 608, 608},
     {{"139_convolutional", {1, 255, 76, 76}},
      {"150_convolutional", {1, 255, 38, 38}},
      {"161_convolutional", {1, 255, 19, 19}}}},
    {"raw heads of YOLOv5 or v7",
     "",
     k640,
     {{"output", {1, 3, 80, 80, 85}}, {"512", {1, 3, 40, 40, 85}}, {"528", {1, 3, 20, 20, 85}}}},
    {"YOLOv3 of ONNX's zoo",
     "keras-yolov3",
     {1, 3, 416, 416},
     {{"yolonms_layer_1/ExpandDims_1:0", {1, 10647, 4}},
      {"yolonms_layer_1/ExpandDims_3:0", {1, 80, 10647}},
      {"yolonms_layer_1/concat_2:0", {1600, 3}, "NonMaxSuppression", DType::kInt32}},
     "image_shape",
     true},
    {"Yolo-FastestV2", "", {1, 3, 352, 352}, {{"794", {1, 22, 22, 95}}, {"796", {1, 11, 11, 95}}}},
    {"Yolo-FastestV2 in one output", "", {1, 3, 352, 352}, {{"772", {605, 95}}}},
    {"pytorch-YOLOv4", "darknet", {1, 3, 608, 608}, {{"boxes", {1, 22743, 1, 4}}, {"confs", {1, 22743, 80}}}},
    {"NanoDet-Plus", "nanodet", {1, 3, 416, 416}, {{"output", {1, 3598, 112}}}},
    {"NanoDet level by level", "nanodet", k640,
     levels({{"cls_pred_stride_", {"", {3}, "Sigmoid"}}, {"dis_pred_stride_", {"", {44}}}}, 1, true)},
    {"NanoDet level by level without names", "nanodet", k640,
     levels({{"7", {"", {80}, "Sigmoid"}}, {"8", {"", {32}}}}, 1, true)},
    {"NanoDet level by level without names or probabilities", "", k640,
     levels({{"7", {"", {80}}}, {"8", {"", {32}}}}, 1, true)},
    {"PicoDet without its post-processing",
     "picodet-heads",
     {1, 3, 320, 320},
     {{"transpose_0.tmp_0", {1, 1600, 80}, "Sigmoid"},
      {"transpose_2.tmp_0", {1, 400, 80}, "Sigmoid"},
      {"transpose_4.tmp_0", {1, 100, 80}, "Sigmoid"},
      {"transpose_6.tmp_0", {1, 25, 80}, "Sigmoid"},
      {"transpose_1.tmp_0", {1, 1600, 32}},
      {"transpose_3.tmp_0", {1, 400, 32}},
      {"transpose_5.tmp_0", {1, 100, 32}},
      {"transpose_7.tmp_0", {1, 25, 32}}},
     "",
     false,
     "image"},
    {"four levels, scores first",
     "",
     {1, 3, 320, 320},
     {{"a", {1, 1600, 80}, "Sigmoid"},
      {"b", {1, 400, 80}, "Sigmoid"},
      {"c", {1, 100, 80}, "Sigmoid"},
      {"d", {1, 25, 80}, "Sigmoid"},
      {"e", {1, 1600, 32}},
      {"f", {1, 400, 32}},
      {"g", {1, 100, 32}},
      {"h", {1, 25, 32}}}},
    {"PicoDet without NMS",
     "picodet",
     {1, 3, 320, 320},
     {{"tmp_16", {1, 2125, 4}}, {"concat_4.tmp_0", {1, 80, 2125}, "Sigmoid"}},
     "scale_factor",
     false,
     "image"},
    {"PP-YOLOE without NMS",
     "ppyoloe",
     k640,
     {{"tmp_16", {1, 8400, 4}}, {"concat_14.tmp_0", {1, 80, 8400}, "Sigmoid"}},
     "scale_factor",
     false,
     "image"},
    {"boxes and columns of scores", "", k640, {{"boxes", {1, 8400, 4}}, {"scores", {1, 80, 8400}, "Sigmoid"}}},
    {"a detector of PaddleDetection with its NMS",
     "",
     {1, 3, 608, 608},
     {{"multiclass_nms3_0.tmp_0", {100, 6}, "Concat"}, {"multiclass_nms3_0.tmp_2", {1}, "Cast", DType::kInt32}},
     "scale_factor",
     false,
     "image"},
    {"pytorch-ssd", "ssd", {1, 3, 300, 300}, {{"scores", {1, 3000, 21}, "Softmax"}, {"boxes", {1, 3000, 4}}}},
    {"pytorch-ssd of one class",
     "ssd",
     {1, 3, 300, 300},
     {{"scores", {1, 3000, 2}, "Softmax"}, {"boxes", {1, 3000, 4}}}},
    {"ssd.pytorch",
     "ssd-priors",
     {1, 3, 300, 300},
     {{"loc", {1, 8732, 4}}, {"conf", {1, 8732, 21}}, {"priors", {8732, 4}, "Identity"}}},
    {"UltraFace 320", "ultraface", {1, 3, 240, 320}, {{"scores", {1, 4420, 2}, "Softmax"}, {"boxes", {1, 4420, 4}}}},
    {"UltraFace 640", "ultraface", {1, 3, 480, 640}, {{"scores", {1, 17640, 2}, "Softmax"}, {"boxes", {1, 17640, 4}}}},
    {"RetinaFace",
     "retinaface",
     k640,
     {{"output0", {1, 16800, 4}}, {"593", {1, 16800, 2}, "Softmax"}, {"592", {1, 16800, 10}}}},
    {"boxes twice in RetinaFace's rows",
     "",
     k640,
     {{"1", {1, 16800, 4}}, {"2", {1, 16800, 4}}, {"3", {1, 16800, 2}, "Softmax"}}},
    {"SCRFD with points", "scrfd", k640,
     levels({{"score_", {"", {1}, "Sigmoid"}}, {"bbox_", {"", {4}}}, {"kps_", {"", {10}}}}, 2, true)},
    {"SCRFD of InsightFace", "scrfd", k640, levels({{"4", {"", {1}, "Sigmoid"}}, {"5", {"", {4}}}}, 2, false)},
    {"YuNet", "yunet", k640,
     levels(
         {{"cls_", {"", {1}, "Sigmoid"}}, {"obj_", {"", {1}, "Sigmoid"}}, {"bbox_", {"", {4}}}, {"kps_", {"", {10}}}},
         1, true)},
    {"SSD of TensorFlow",
     "tensorflow",
     {1, 300, 300, 3},
     {{"detection_boxes:0", {1, 100, 4}},
      {"detection_classes:0", {1, 100}},
      {"detection_scores:0", {1, 100}},
      {"num_detections:0", {1}}}},
    {"boxes that are none",
     "",
     {1, 300, 300, 3},
     {{"detection_boxes", {}}, {"detection_classes", {}}, {"detection_scores", {}}, {"num_detections", {1}}}},
    {"lists with a number each",
     "",
     {1, 300, 300, 3},
     {{"detection_boxes", {1, 2, 4}},
      {"detection_classes", {1, 2}},
      {"detection_scores", {1, 2}},
      {"num_detections", {2}}}},
    {"SSD of ONNX's zoo",
     "ssd-zoo",
     {1, 3, 1200, 1200},
     {{"bboxes", {1, 200, 4}}, {"labels", {1, 200}, "TopK", kInt64}, {"scores", {1, 200}}},
     "",
     true},
    {"YOLOv7 for ONNX Runtime", "", k640, {{"output", {100, 7}, "Concat"}}, "", true},
    {"YOLO-NAS in its flat format", "", k640, {{"graph2_flat_predictions", {100, 7}, "Concat"}}, "", true},
    {"YOLO-NAS without NMS", "", k640, {{"pred_bboxes", {1, 8400, 4}}, {"pred_scores", {1, 8400, 80}, "Sigmoid"}}},
    {"EfficientDet of automl with its choice", "efficientdet-e2e", {1, 512, 512, 3}, {{"detections:0", {1, 100, 7}}}},
    {"seven columns of TensorFlow's", "", {1, 512, 512, 3}, {{"Identity:0", {1, 100, 7}}}},
    {"seven columns under automl's name", "", k640, {{"detections", {1, 100, 7}}}},
    {"SSD of Caffe", "detection-output", {1, 3, 300, 300}, {{"detection_out", {1, 1, 200, 7}}}},
    {"SSD of OpenVINO", "detection-output", {1, 3, 300, 300}, {{"DetectionOutput", {1, 1, 100, 7}}}},
    {"seven columns of a plane", "", {1, 3, 300, 300}, {{"output", {1, 1, 200, 7}}}},
    {"EfficientDet",
     "efficientdet",
     {1, 3, 512, 512},
     {{"regression", {1, 49104, 4}}, {"classification", {1, 49104, 90}, "Sigmoid"}, {"anchors", {1, 49104, 4}}}},
    {"DETR", "detr", {1, 3, 800, 800}, {{"logits", {1, 100, 92}}, {"pred_boxes", {1, 100, 4}, "Sigmoid"}}},
    {"DETR of the paper's authors",
     "detr",
     {1, 3, 800, 800},
     {{"pred_logits", {1, 100, 92}}, {"pred_boxes", {1, 100, 4}, "Sigmoid"}}},
    {"DETR of other classes", "", {1, 3, 800, 800}, {{"logits", {1, 100, 12}}, {"pred_boxes", {1, 100, 4}}}},
    {"YOLO-World, YOLOE of COCO's classes", "yolov8", k640, {{"output0", {1, 84, 8400}}}},
    {"D-FINE of Objects365", "", k640, {{"logits", {1, 300, 366}}, {"pred_boxes", {1, 300, 4}, "Sigmoid"}}},
    {"RT-DETR, D-FINE", "rtdetr", k640, {{"logits", {1, 300, 80}}, {"pred_boxes", {1, 300, 4}, "Sigmoid"}}},
    {"deformable DETR",
     "deformable-detr",
     {1, 3, 800, 800},
     {{"logits", {1, 300, 91}}, {"pred_boxes", {1, 300, 4}, "Sigmoid"}}},
    {"RT-DETR, D-FINE, DEIM with their choice",
     "detr-e2e",
     k640,
     {{"labels", {1, 300}, "Mod", kInt64}, {"boxes", {1, 300, 4}}, {"scores", {1, 300}}},
     "orig_target_sizes"},
    {"RF-DETR", "rfdetr", {1, 3, 384, 384}, {{"dets", {1, 300, 4}}, {"labels", {1, 300, 91}}}},
    {"RF-DETR-seg",
     "rfdetr-seg",
     {1, 3, 312, 312},
     {{"dets", {1, 100, 4}}, {"labels", {1, 100, 91}}, {"masks", {1, 100, 78, 78}}}},
    {"torchvision's Faster R-CNN",
     "torchvision",
     {1, 3, 800, 800},
     {{"boxes", {100, 4}}, {"labels", {100}, "Gather", kInt64}, {"scores", {100}}},
     "",
     true},
    {"torchvision's Mask R-CNN",
     "mask-rcnn",
     {1, 3, 800, 800},
     {{"boxes", {100, 4}}, {"labels", {100}, "Gather", kInt64}, {"scores", {100}}, {"masks", {100, 1, 800, 800}}},
     "",
     true},
    {"lists of who knows what",
     "",
     {1, 3, 800, 800},
     {{"2500", {100, 4}}, {"2501", {100}, "Gather", kInt64}, {"2502", {100}}},
     "",
     true},
    {"four outputs as TensorRT's",
     "tensorrt",
     k640,
     {{"num_dets", {1, 1}, "Cast", DType::kInt32},
      {"det_boxes", {1, 100, 4}},
      {"det_scores", {1, 100}},
      {"det_classes", {1, 100}, "Cast", DType::kInt32}}},
    {"a semantic network", "semantic", {1, 3, 512, 512}, {{"logits", {1, 21, 128, 128}}}},
    {"a semantic network that enlarges its scores", "semantic", k640, {{"out", {1, 7, 640, 640}, "Resize"}}},
    {"a semantic network that chooses", "semantic", k640, {{"out", {1, 640, 640}, "ArgMax", kInt64}}},
    {"a plane of some channels", "", k640, {{"out", {1, 7, 640, 640}}}},
    {"Tiny YOLOv2", "", {1, 3, 416, 416}, {{"grid", {1, 125, 13, 13}}}},
    {"a YOLO head of two classes", "", k640, {{"out", {1, 21, 20, 20}}}},
    {"heat maps of a body's points", "", {1, 3, 256, 192}, {{"output", {1, 17, 64, 48}}}},
    {"heat maps of objects", "", {1, 3, 512, 512}, {{"hm", {1, 80, 128, 128}, "Sigmoid"}}},
    {"features", "", {1, 3, 224, 224}, {{"features", {1, 2048, 7, 7}, "Relu"}}},
    {"numbers of a code book", "", {1, 3, 256, 256}, {{"codes", {1, 16, 16}, "ArgMax", kInt64}}},
    {"a depth network", "depth", {1, 3, 256, 256}, {{"depth", {1, 1, 256, 256}}}},
    {"a disparity network", "depth", {1, 3, 192, 640}, {{"disp", {1, 1, 192, 640}, "Sigmoid"}}},
    {"super-resolution", "upscale", {1, 3, 128, 128}, {{"output", {1, 3, 512, 512}}}},
    {"an image tower of CLIP", "embed", {1, 3, 224, 224}, {{"image_embeds", {1, 512}}}},
    {"DINOv2 of Hugging Face",
     "embed",
     {1, 3, 224, 224},
     {{"last_hidden_state", {1, 257, 384}}, {"pooler_output", {1, 384}}}},
    {"a vector of length 1", "embed", {1, 3, 256, 128}, {{"output", {1, 512}, "LpNormalization"}}},
    {"features of a plane", "", {1, 3, 224, 224}, {{"embedding", {1, 384, 16, 16}}}},
    {"text detection of PP-OCR", "", k640, {{"sigmoid_0.tmp_0", {1, 1, 640, 640}, "Sigmoid"}}},
    {"text recognition without a list of characters", "", {1, 3, 48, 320}, {{"out", {1, 40, 6625}, "Softmax"}}},
    {"a classifier", "classify", {1, 3, 224, 224}, {{"logits", {1, 1000}}}},
    {"columns of who knows what", "", k640, {{"output0", {1, 57, 8400}}}},
    {"boxes and scores of who knows what", "", k640, {{"out0", {1, 8400, 4}}, {"out1", {1, 8400, 80}}}},
    {"six columns of many rows", "", k640, {{"output0", {1, 25200, 6}}}},
};

Graph graph_of(const Signature& signature) {
  Graph graph;
  const ValueId image = graph.add_input(signature.image, {DType::kFloat32, signature.input_shape});
  if (!signature.size_input.empty()) {
    const bool whole = signature.size_input == "orig_target_sizes";
    graph.add_input(signature.size_input, {whole ? DType::kInt64 : DType::kFloat32, {1, 2}});
  }
  std::vector<Extent> extents;
  for (const NamedOutput& output : signature.outputs) {
    const ValueId value = graph.add_value(output.name, {output.type, output.shape});
    graph.add_node({.op = output.made_by, .name = output.name, .inputs = {image}, .outputs = {value}});
    if (signature.cut)
      extents.push_back({graph.outputs().size(), output.shape[0] == 1 ? 1 : 0, signature.outputs.size()});
    graph.add_output(value);
  }
  if (signature.cut) {
    const ValueId count = graph.add_value("count", {DType::kInt64, {1}});
    graph.add_node({.op = "Shape", .name = "count", .inputs = {image}, .outputs = {count}});
    graph.add_output(count);
    graph.set_extents(std::move(extents));
  }
  return graph;
}

std::string recognised(const Graph& graph) {
  try {
    return std::string(card_for(graph, {}).head().decoder->name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    return "";
  }
}

TEST(FamilySignatures, AreTakenForTheirOwnFamily) {
  for (const Signature& signature : kSignatures)
    EXPECT_EQ(recognised(graph_of(signature)), signature.decoder) << signature.what;
}

TEST(FamilySignatures, DoNotHangOnTheOutputsOrder) {
  for (Signature signature : kSignatures) {
    std::ranges::reverse(signature.outputs);
    EXPECT_EQ(recognised(graph_of(signature)), signature.decoder) << signature.what;
  }
}

/// A card can request every decoder for any model: it fits, or the error lists the outputs.
TEST(FamilySignatures, FitOrFailPlainly) {
  for (const Signature& signature : kSignatures) {
    const Graph graph = graph_of(signature);
    for (const Decoder* decoder : decoders()) {
      Card card;
      card.width = static_cast<int>(signature.input_shape[signature.input_shape[3] == 3 ? 2 : 3]);
      card.height = static_cast<int>(signature.input_shape[signature.input_shape[3] == 3 ? 1 : 2]);
      Head head{.decoder = decoder};
      if (!decoder->fit(graph, card, head)) continue;
      EXPECT_FALSE(head.outputs.empty()) << signature.what << " as " << decoder->name;
      // Cards are printed with the resulting settings, and parsed again.
      const OutputKeys& uses = decoder->uses;
      EXPECT_TRUE(uses.labels || head.labels.empty()) << decoder->name;
      EXPECT_TRUE(uses.remap || head.remap.empty()) << decoder->name;
      EXPECT_TRUE(uses.strides || head.strides.empty()) << decoder->name;
      EXPECT_TRUE(uses.anchors || head.anchors.empty()) << decoder->name;
      EXPECT_TRUE(uses.keypoints || head.keypoints == 0) << decoder->name;
      // The resulting head must fit again by its own output names: cards are printed with them.
      Head again{.decoder = decoder, .outputs = head.outputs, .strides = head.strides, .anchors = head.anchors};
      EXPECT_TRUE(decoder->fit(graph, card, again)) << signature.what << " as " << decoder->name;
      EXPECT_EQ(again.outputs, head.outputs) << signature.what << " as " << decoder->name;
    }
  }
}

}  // namespace
}  // namespace saccade
