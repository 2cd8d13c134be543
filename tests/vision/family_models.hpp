#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/verify.hpp"
#include "ops/interpreter/interpret.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_folder.hpp"
#include "vision/result_reader.hpp"

// Models whose outputs are given, to try decoders on: what a family's exporter writes, made from known boxes.
namespace saccade::test {

/// An element's place, and the tensor's elements by it.
inline float& at(Tensor& tensor, std::initializer_list<std::int64_t> place) {
  std::int64_t index = 0;
  int axis = 0;
  for (std::int64_t i : place) index = index * tensor.shape()[axis++] + i;
  return tensor.data<float>()[static_cast<std::size_t>(index)];
}

inline Tensor filled(const Shape& shape, float value) {
  Tensor tensor(DType::kFloat32, shape);
  std::ranges::fill(tensor.data<float>(), value);
  return tensor;
}

inline float logit(float p) { return std::log(p / (1 - p)); }

/// A model of one image whose outputs are constants, behind the operators that real ones end in.
class FamilyModel {
 public:
  explicit FamilyModel(const Shape& input_shape, const std::string& name = "images", DType type = DType::kFloat32) {
    image_ = builder_.input(name, input_shape, type);
  }

  /// A value for `gives`.
  ValueId constant(Tensor tensor) { return builder_.constant(std::move(tensor)); }
  GraphBuilder& builder() { return builder_; }

  FamilyModel& gives(const std::string& name, Tensor tensor) {
    return gives(name, builder_.op("Identity", {constant(std::move(tensor))}));
  }
  /// What OP, a unary operator, makes of TENSOR.
  FamilyModel& gives(const std::string& name, Tensor tensor, const std::string& op) {
    return gives(name, builder_.op(op, {constant(std::move(tensor))}));
  }
  FamilyModel& gives(const std::string& name, ValueId value) {
    names_.push_back(name);
    outputs_.push_back(value);
    return *this;
  }
  /// Of output number OUTPUT only the first COUNT elements along AXIS are there.
  FamilyModel& cut(std::vector<std::pair<std::size_t, int>> axes, std::int64_t count) {
    count_ = count;
    cut_ = std::move(axes);
    return *this;
  }

  Graph build() {
    std::vector<ValueId> outputs = outputs_;
    if (!cut_.empty()) outputs.push_back(builder_.op("Identity", {builder_.ints({count_})}));
    Graph graph = builder_.build(outputs);
    for (std::size_t i = 0; i < names_.size(); ++i) graph.value(outputs_[i]).name = names_[i];
    std::vector<Extent> extents;
    for (const auto& [output, axis] : cut_) extents.push_back({output, axis, names_.size()});
    graph.set_extents(std::move(extents));
    return graph;
  }

 private:
  GraphBuilder builder_;
  ValueId image_;
  std::vector<std::string> names_;
  std::vector<ValueId> outputs_;
  std::vector<std::pair<std::size_t, int>> cut_;
  std::int64_t count_ = 0;
};

/// What a model finds, with what it points to.
struct Found {
  Card card;
  Result result;
  std::vector<std::vector<Keypoint>> keypoints;
  std::vector<std::int64_t> areas;  ///< of masks
  std::vector<std::vector<MaskRun>> runs;
  std::string text;

  const std::vector<Detection>& detections() const { return result.detections; }
};

/// A box in the model's pixels with what stands in it.
struct Known {
  std::array<float, 4> box;
  float score = 0;
  int class_id = 0;

  float x() const { return (box[0] + box[2]) / 2; }
  float y() const { return (box[1] + box[3]) / 2; }
  float width() const { return box[2] - box[0]; }
  float height() const { return box[3] - box[1]; }
};

inline const std::vector<Known> kThings = {
    {{10, 20, 31, 44}, 0.9F, 2}, {{60, 30, 110, 90}, 0.8F, 0}, {{20, 60, 150, 122.5F}, 0.7F, 79}};
inline const Shape kInputShape{1, 3, 128, 160};

/// The whole way of a grey frame of twice the model's image, under the card that CARD_TEXT says (none: recognised).
inline Found find_in(Graph model, const std::string& card_text = "", const PostprocessOptions& options = {}) {
  Found found;
  std::filesystem::path file;
  const TempFolder folder;
  if (!card_text.empty()) file = folder.write("card.toml", card_text);
  found.card = card_for(model, {}, file);
  const Attached pipeline = attach(std::move(model), found.card, options);
  verify(pipeline.graph);
  const int width = 2 * found.card.width;
  const int height = 2 * found.card.height;
  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 100);
  FrameView view{.format = PixelFormat::kGray8, .width = width, .height = height};
  view.planes[0] = pixels.data();
  view.pitch_bytes[0] = width;
  Tensor frame(DType::kFrame, {});
  std::memcpy(frame.raw(), &view, sizeof view);
  std::map<std::string, Tensor> inputs = {{"frame", frame}};
  if (found.card.track) {
    const Value& target = pipeline.graph.value(pipeline.graph.inputs()[1]);
    inputs.emplace(target.name, filled(target.type.shape, 0));
  }
  std::vector<Tensor> outputs = interpret(pipeline.graph, inputs);
  std::vector<TensorView> views;
  for (Tensor& output : outputs) views.push_back(view_of(output));
  ResultReader reader(found.card, pipeline.outputs, options);
  reader.prepare(found.result);
  reader.read(views, width, height, found.result);
  found.text = found.result.text;
  found.result.text = {};
  for (Detection& detection : found.result.detections) {
    found.keypoints.emplace_back(detection.keypoints.begin(), detection.keypoints.end());
    found.areas.push_back(detection.mask ? detection.mask->area : -1);
    std::vector<MaskRun>& runs = found.runs.emplace_back();
    if (detection.mask) runs.assign(detection.mask->runs.begin(), detection.mask->runs.end());
    detection.keypoints = {};
    detection.mask.reset();
  }
  return found;
}

/// Every box of KNOWN, in falling order of scores, and no other, to half a pixel of a frame of twice the size.
inline void expect_found(const Found& found, const std::string& decoder, const std::vector<Known>& known,
                         float tolerance = 1e-3F) {
  EXPECT_EQ(found.card.head().decoder->name, decoder);
  ASSERT_EQ(found.detections().size(), known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Detection& detection = found.detections()[i];
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(detection.box[k], 2 * known[i].box[k], 0.5) << i << " " << k;
    EXPECT_NEAR(detection.confidence, known[i].score, tolerance) << i;
    EXPECT_EQ(detection.class_id, known[i].class_id) << i;
  }
}

/// The decoder that a model is recognised for; empty: none.
inline std::string recognised(Graph model) {
  try {
    return std::string(card_for(model, {}).head().decoder->name);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace saccade::test
