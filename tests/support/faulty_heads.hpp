#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan.hpp"
#include "support/frame_tensor.hpp"
#include "support/graph_builder.hpp"
#include "support/specials.hpp"
#include "vision/cards/recognise.hpp"
#include "vision/result_reader.hpp"

// Heads of every task with valid numbers, and the faults that must be reported for a damaged one: by decoders with a
// kernel of their own, and by those that end in another decoder.
namespace saccade::test {

/// An invalid number in a head's output, and the expected faults.
struct Damage {
  std::size_t output;
  std::size_t element;
  float value;
  Fault fault;
};

struct FaultyHead {
  const char* decoder;
  std::vector<std::string> labels;
  std::vector<std::pair<std::string, Tensor>> outputs;
  std::vector<Damage> damages;
  void (*set)(Head& head) = [](Head& /*head*/) {};  ///< settings beside the outputs
  std::int64_t size = 8;                            ///< of the model's image
};

/// N numbers as SHAPE, the FIRST ones given, zeros after them.
inline Tensor padded(const Shape& shape, std::initializer_list<float> first) {
  Tensor tensor(DType::kFloat32, shape);
  std::ranges::fill(tensor.data<float>(), 0.0F);
  std::ranges::copy(first, tensor.data<float>().begin());
  return tensor;
}

/// Numbers below one half without equal neighbours.
inline Tensor ramp(const Shape& shape) {
  Tensor tensor(DType::kFloat32, shape);
  for (std::size_t i = 0; i < tensor.data<float>().size(); ++i)
    tensor.data<float>()[i] = static_cast<float>(i * 7 % 32) / 80;
  return tensor;
}

using Outputs = std::vector<std::pair<std::string, Tensor>>;

/// The head's outputs with ELEMENT of output OUTPUT set to VALUE.
inline Outputs with_damage(const FaultyHead& head, std::size_t output, std::size_t element, float value) {
  Outputs outputs = head.outputs;
  Tensor& tensor = outputs[output].second;  // copies share their elements
  tensor = Tensor::of<float>(tensor.shape(), std::span<const float>(tensor.data<float>()));
  tensor.data<float>()[element] = value;
  return outputs;
}

inline std::vector<FaultyHead> heads_of_boxes() {
  constexpr Fault kNanScore = Fault::kNanConfidence;
  constexpr Fault kRange = Fault::kConfidenceRange;
  constexpr Fault kNegative = Fault::kNegativeSize;
  const std::vector<std::string> two = {"one", "two"};
  // Columns x, y, w, h, one, two of four cells; the first is an object.
  const Tensor columns = padded({1, 6, 4}, {4, 1, 1, 1, 4, 1, 1, 1, 6, 1, 1, 1, 6, 1, 1, 1, 0.9F, 0.1F, 0, 0, 0.1F});
  const std::vector<Damage> columns_damages = {{0, 23, kNan, kNanScore},
                                               {0, 16, 1.5F, kRange},
                                               {0, 16, kInfinity, kRange},
                                               {0, 0, kNan, Fault::kNanBox},
                                               {0, 8, kInfinity, Fault::kInfiniteBox},
                                               {0, 8, -6, kNegative}};
  std::vector<FaultyHead> heads = {{"yolov8", two, {{"output0", columns}}, columns_damages}};
  heads.push_back(
      {"yolov8", two, {{"output0", columns}}, columns_damages, [](Head& head) { head.multi_label = true; }});
  const Tensor rows = padded({1, 4, 7}, {4, 4, 6, 6, 0.9F, 0.9F, 0.1F});
  const std::vector<Damage> row_damages = {{0, 11, kNan, kNanScore},
                                           {0, 6, kNan, kNanScore},
                                           {0, 5, 2, kRange},
                                           {0, 0, kNan, Fault::kNanBox},
                                           {0, 2, kInfinity, Fault::kInfiniteBox},
                                           {0, 2, -6, kNegative}};
  heads.push_back({"yolov5", two, {{"output", rows}}, row_damages});
  // Cells of strides 8, 16 and 32; sizes are logarithms, so none is negative.
  heads.push_back(
      {"yolox",
       two,
       {{"output", padded({1, 21, 7}, {0.5F, 0.5F, 0, 0, 0.9F, 0.9F, 0.1F})}},
       {{0, 11, kNan, kNanScore}, {0, 5, 2, kRange}, {0, 0, kNan, Fault::kNanBox}, {0, 2, 1000, Fault::kInfiniteBox}},
       [](Head& /*head*/) {},
       32});
  const Tensor chosen = padded({1, 3, 6}, {1, 1, 7, 7, 0.9F, 0});
  heads.push_back({"yolo-e2e",
                   two,
                   {{"output0", chosen}},
                   {{0, 10, kNan, kNanScore},
                    {0, 5, kNan, kNanScore},
                    {0, 4, 1.5F, kRange},
                    {0, 0, kNan, Fault::kNanBox},
                    {0, 2, kInfinity, Fault::kInfiniteBox},
                    {0, 2, -3, kNegative}}});
  heads.push_back({"tensorrt",
                   two,
                   {{"det_boxes", padded({1, 3, 4}, {1, 1, 7, 7})},
                    {"det_scores", padded({1, 3}, {0.9F})},
                    {"det_classes", padded({1, 3}, {1})},
                    {"num_dets", padded({1, 1}, {2})}},
                   {{1, 1, kNan, kNanScore},
                    {2, 0, kNan, kNanScore},
                    {3, 0, kNan, kNanScore},
                    {1, 0, 1.5F, kRange},
                    {0, 1, kNan, Fault::kNanBox},
                    {0, 2, kInfinity, Fault::kInfiniteBox},
                    {0, 3, -3, kNegative}}});
  const Tensor shares = padded({1, 3, 4}, {0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F});
  const std::vector<Damage> query_damages = {{1, 4, kNan, kNanScore},
                                             {0, 0, kNan, Fault::kNanBox},
                                             {0, 2, kInfinity, Fault::kInfiniteBox},
                                             {0, 3, -0.5F, kNegative}};
  heads.push_back(
      {"rfdetr", two, {{"dets", shares}, {"labels", padded({1, 3, 2}, {3, -3, -3, -3, -3, -3})}}, query_damages});
  std::vector<Damage> logit_damages = query_damages;
  for (Damage& damage : logit_damages) damage.output = 1 - damage.output;
  heads.push_back(
      {"rtdetr", two, {{"logits", padded({1, 3, 2}, {3, -3, -3, -3, -3, -3})}, {"pred_boxes", shares}}, logit_damages});
  heads.push_back({"detr",
                   two,
                   {{"logits", padded({1, 3, 3}, {5, 0, 0, 0, 0, 5, 0, 0, 5})}, {"pred_boxes", shares}},
                   logit_damages});
  return heads;
}

inline std::vector<FaultyHead> heads_beside_boxes() {
  constexpr Fault kNanScore = Fault::kNanConfidence;
  const std::vector<std::string> one = {"thing"};
  std::vector<FaultyHead> heads;
  heads.push_back({"yolov8-seg",
                   one,
                   {{"output0", padded({1, 7, 1}, {4, 4, 6, 6, 0.9F, 1, 0.5F})}, {"output1", ramp({1, 2, 4, 4})}},
                   {{0, 5, kNan, Fault::kNotFiniteMask},
                    {1, 5, kNan, Fault::kNotFiniteMask},
                    {1, 6, kInfinity, Fault::kNotFiniteMask},
                    {0, 4, kNan, kNanScore}}});
  heads.push_back({"yolov8-pose",
                   one,
                   {{"output0", padded({1, 11, 1}, {4, 4, 6, 6, 0.9F, 2, 3, 0.8F, 5, 4, 0.7F})}},
                   {{0, 5, kNan, Fault::kNotFiniteKeypoint},
                    {0, 9, -kInfinity, Fault::kNotFiniteKeypoint},
                    {0, 7, kNan, kNanScore},
                    {0, 10, 1.5F, Fault::kConfidenceRange}}});
  heads.push_back({"yolov8-obb",
                   {"one", "two"},
                   {{"output0", padded({1, 7, 1}, {4, 4, 6, 3, 0.9F, 0.1F, 0.5F})}},
                   {{0, 6, kNan, Fault::kNanBox},
                    {0, 0, kInfinity, Fault::kInfiniteBox},
                    {0, 2, -6, Fault::kNegativeSize},
                    {0, 5, kNan, kNanScore},
                    {0, 4, 1.5F, Fault::kConfidenceRange}}});
  heads.push_back({"yolo-e2e-obb",
                   {"one", "two"},
                   {{"output0", padded({1, 3, 7}, {4, 4, 6, 3, 0.9F, 1, 0.5F})}},
                   {{0, 4, kNan, kNanScore}, {0, 5, kNan, kNanScore}, {0, 6, kNan, Fault::kNanBox}}});
  return heads;
}

inline std::vector<FaultyHead> heads_of_images() {
  constexpr Fault kNanScore = Fault::kNanConfidence;
  const std::vector<std::string> three = {"one", "two", "three"};
  std::vector<FaultyHead> heads;
  heads.push_back({"classify",
                   three,
                   {{"logits", padded({1, 3}, {1, 9, -2})}},
                   {{0, 2, kNan, kNanScore}, {0, 0, kInfinity, kNanScore}}});
  heads.push_back({"classify",
                   three,
                   {{"shares", padded({1, 3}, {0.2F, 0.7F, 0.1F})}},
                   {{0, 2, kNan, kNanScore},
                    {0, 0, 1.5F, Fault::kConfidenceRange},
                    {0, 0, -0.5F, Fault::kConfidenceRange},
                    {0, 0, kInfinity, Fault::kConfidenceRange}},
                   [](Head& head) { head.softmax = false; }});
  heads.push_back({"semantic", three, {{"classes", ramp({1, 3, 8, 8})}}, {{0, 100, kNan, Fault::kNanClassMap}}});
  heads.push_back({"semantic", {"no", "yes"}, {{"mask", ramp({1, 1, 8, 8})}}, {{0, 9, kNan, Fault::kNanClassMap}}});
  heads.push_back({"depth",
                   {},
                   {{"depth", ramp({1, 1, 8, 8})}},
                   {{0, 9, kNan, Fault::kNotFiniteDepth}, {0, 63, kInfinity, Fault::kNotFiniteDepth}}});
  heads.push_back({"depth",
                   {},
                   {{"metres", ramp({1, 1, 8, 8})}},
                   {{0, 9, kNan, Fault::kNotFiniteDepth}, {0, 63, -kInfinity, Fault::kNotFiniteDepth}},
                   [](Head& head) { head.depth = DepthKind::kMetric; }});
  heads.push_back({"upscale",
                   {},
                   {{"image", ramp({1, 3, 16, 16})}},
                   {{0, 767, kNan, Fault::kNotFinitePixel}, {0, 0, -kInfinity, Fault::kNotFinitePixel}}});
  const std::vector<Damage> vector_damages = {{0, 3, kNan, Fault::kInvalidEmbedding},
                                              {0, 0, kInfinity, Fault::kInvalidEmbedding},
                                              {0, 1, -kInfinity, Fault::kInvalidEmbedding}};
  const std::vector<std::pair<std::string, Tensor>> vector = {{"vector", padded({1, 4}, {1, -2, 3, 0.5F})}};
  heads.push_back({"embed", {}, vector, vector_damages});
  heads.push_back({"embed", {}, vector, vector_damages, [](Head& head) { head.normalize = false; }});
  // Its norm is 0.
  heads.push_back({"embed", {}, {{"vector", padded({1, 4}, {2})}}, {{0, 0, 0, Fault::kInvalidEmbedding}}});
  heads.push_back(
      {"db",
       {"text"},
       {{"map", ramp({1, 1, 8, 8})}},
       {{0, 9, kNan, kNanScore}, {0, 9, 1.5F, Fault::kConfidenceRange}, {0, 63, -kInfinity, Fault::kConfidenceRange}},
       [](Head& head) { head.conf = {0.6F}; }});
  const std::vector<std::pair<std::string, Tensor>> columns = {
      {"text", padded({1, 2, 3}, {0.2F, 0.7F, 0.1F, 0.2F, 0.1F, 0.7F})}};
  heads.push_back({"ctc",
                   {},
                   columns,
                   {{0, 0, kNan, kNanScore},
                    {0, 5, kNan, kNanScore},
                    {0, 1, 1.5F, Fault::kConfidenceRange},
                    {0, 3, kInfinity, Fault::kConfidenceRange}},
                   [](Head& head) {
                     head.characters = {"a", "b"};
                     head.softmax = false;
                   }});
  heads.push_back({"ctc", {}, columns, {{0, 0, kNan, kNanScore}, {0, 3, kInfinity, kNanScore}}, [](Head& head) {
                     head.characters = {"a", "b"};
                     head.softmax = true;
                   }});
  // Its softmax is NaN if all logits are minus infinity.
  heads.push_back(
      {"classify", three, {{"logits", padded({1, 3}, {-kInfinity, 9, -kInfinity})}}, {{0, 1, -kInfinity, kNanScore}}});
  return heads;
}

inline std::vector<FaultyHead> faulty_heads() {
  std::vector<FaultyHead> all = heads_of_boxes();
  for (const auto& more : {heads_beside_boxes(), heads_of_images()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// A head as a model whose outputs are computed at run time, with pre-processing and post-processing.
struct FaultyModel {
  Card card;
  Attached attached;

  FaultyModel(const FaultyHead& head, const Outputs& outputs) {
    GraphBuilder b;
    const ValueId image = b.input("images", {1, 3, head.size, head.size});
    const ValueId nothing = b.op("Mul", {b.op("ReduceMax", {image}, {{"keepdims", std::int64_t{0}}}), b.scalar(0)});
    std::vector<ValueId> made;
    for (const auto& [name, tensor] : outputs) made.push_back(b.op("Add", {b.constant(tensor), nothing}));
    Graph graph = b.build(made);
    for (std::size_t i = 0; i < made.size(); ++i) graph.value(made[i]).name = outputs[i].first;
    card = default_card(*find_decoder(head.decoder));
    recognise_input(graph, card);
    card.heads[0].labels = head.labels;
    card.heads[0].classes = static_cast<int>(head.labels.size());
    head.set(card.heads[0]);  // guides the fit, and overrides what it infers
    fit_output(graph, card, card.heads[0]);
    head.set(card.heads[0]);
    attached = attach(std::move(graph), card, {});
  }
};

/// Runs EACH(model, its name, the expected faults of its result) on every head, valid and damaged.
template <typename Each>
void for_faulty_models(const Each& each) {
  for (const FaultyHead& head : faulty_heads()) {
    each(FaultyModel(head, head.outputs), std::string(head.decoder) + ", sound", Faults());
    for (const Damage& damage : head.damages) {
      const Outputs outputs = with_damage(head, damage.output, damage.element, damage.value);
      Faults faults;
      faults.add(damage.fault);
      each(FaultyModel(head, outputs),
           std::string(head.decoder) + ", " + outputs[damage.output].first + "[" + std::to_string(damage.element) +
               "] = " + std::to_string(damage.value),
           faults);
    }
  }
}

/// A black frame of twice the model's image.
class BlackFrame {
 public:
  explicit BlackFrame(const Card& card)
      : width(2 * card.width),
        height(2 * card.height),
        pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}
  FrameView view() const {
    FrameView view{.format = PixelFormat::kGray8, .width = width, .height = height};
    view.planes[0] = pixels_.data();
    view.pitch_bytes[0] = width;
    return view;
  }
  const int width;
  const int height;

 private:
  std::vector<std::uint8_t> pixels_;
};

/// What TAKE returns of the result of MODEL on a black frame, run by BACKEND on poisoned memory. The result is valid
/// during the call.
template <typename Take>
auto take_result(const Backend& backend, const FaultyModel& model, Take take) {
  Execution execution(Plan::compile(model.attached.graph, backend, {}));
  execution.poison();
  const BlackFrame frame(model.card);
  ResultReader reader(model.card, model.attached.outputs, {});
  Result result;
  reader.prepare(result);
  *execution.frame() = frame.view();
  execution.run();
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < execution.plan().graph().outputs().size(); ++i) views.push_back(execution.output(i));
  reader.read(views, frame.width, frame.height, result);
  return take(result);
}

}  // namespace saccade::test
