#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/patch.hpp"
#include "vision/batching/batch_images.hpp"

namespace saccade {

/// One node of a graph that is turned into one for a batch: what a rule knows of it, and what the rule decides. Shapes
/// are those for one image.
class BatchStep {
 public:
  /// AXES of the inputs, by index; nullopt: the input does not depend on the image.
  BatchStep(const Graph& graph, const Node& node, std::span<const TensorType> types, std::int64_t images,
            std::vector<std::optional<ImageAxis>> axes);

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  std::int64_t images() const { return images_; }
  std::size_t inputs() const { return axes_.size(); }
  bool has(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != ValueId::kNone; }
  const Shape& shape(std::size_t i) const;
  const Shape& output_shape(std::size_t i = 0) const;
  /// Whether output I is read.
  bool is_read(std::size_t i) const;
  const std::optional<ImageAxis>& axis(std::size_t i) const { return axes_[i]; }
  /// Whether input I depends on the image.
  bool varies(std::size_t i) const { return i < axes_.size() && axes_[i].has_value(); }
  /// The axis of input I. Refuses the node if the input does not depend on the image.
  ImageAxis required_axis(std::size_t i) const;
  /// Refuses the node if any of the inputs from FIRST on depends on the image.
  void require_shared_from(std::size_t first) const;
  /// The contents of input I, of integers. Refuses the node if they depend on the image.
  std::vector<std::int64_t> integers(std::size_t i) const;
  /// The attribute or, from opset 13 or 18 on, input I with axes of input 0, normalized. Empty: not given.
  std::vector<int> axes_of(const char* attribute, std::size_t i) const;

  /// All outputs have the images at AXIS.
  void keep(ImageAxis axis);
  void keep(std::size_t output, ImageAxis axis) { kept_[output] = axis; }
  /// Input I becomes the constant VALUES.
  void replace(std::size_t i, std::vector<std::int64_t> values) { constants_[i] = std::move(values); }
  /// Input I, which does not depend on the image, is repeated for each image along AXIS.
  void repeat(std::size_t i, int axis) { repeated_[i] = axis; }
  /// Input I, which depends on the image, is copied so that its images lie along the axis of TO. Whether it can be: TO
  /// has to fit the input's shape.
  bool can_align(std::size_t i, ImageAxis to) const;
  void align(std::size_t i, ImageAxis to);
  /// The node becomes a Reshape of input 0 to its output, whose images lie at AXIS.
  void become_reshape(ImageAxis axis);
  /// The node becomes a Gather of input 0 along AXIS, with these INDICES for an image whose elements begin at 0.
  void become_gather(ImageAxis axis, const std::vector<std::int64_t>& indices);
  /// Throws Error (kUnsupported) naming the node and REASON.
  [[noreturn]] void refuse(const std::string& reason) const;

  /// The node in the graph for the batch.
  struct Applied {
    NodeId node = NodeId::kNone;
    std::vector<std::optional<ImageAxis>> axes;  ///< of its outputs
  };
  /// Changes GRAPH, that of the constructor, as decided for the node with this ID.
  Applied apply(Graph& graph, NodeId id) const;

 private:
  Shape batched(const Shape& shape, int axis) const;
  ValueId add_aligned(Patch& patch, std::size_t i, ImageAxis to) const;
  ValueId add_reshape(Patch& patch, ValueId from, const Value& like, const Shape& to) const;

  const Graph& graph_;
  const Node node_;  ///< a copy: adding nodes moves them
  std::span<const TensorType> types_;
  std::int64_t images_;
  std::vector<std::optional<ImageAxis>> axes_;
  std::map<std::size_t, ImageAxis> kept_;
  std::map<std::size_t, std::vector<std::int64_t>> constants_;
  std::map<std::size_t, int> repeated_;
  std::map<std::size_t, ImageAxis> aligned_;
  std::optional<Node> replacement_;  ///< of input 0 and a constant
  std::vector<std::int64_t> operand_;
};

/// Decides how a node with inputs that depend on the image is turned into one for a batch.
using BatchRule = void (*)(BatchStep&);

/// The rule of the node's operator, which refuses those that are not known.
BatchRule batch_rule(const Node& node);

/// Where images that lie at FROM in a value of shape OLD lie once that has become SHAPE, with the elements in the same
/// order. nullopt: they do not lie along one axis.
std::optional<ImageAxis> reshaped_axis(const Shape& old, ImageAxis from, const Shape& shape);

// Of movement_rules.cpp.
void batch_transpose(BatchStep& step);
void batch_reshape(BatchStep& step);
void batch_unsqueeze(BatchStep& step);
void batch_squeeze(BatchStep& step);
void batch_expand(BatchStep& step);
void batch_tile(BatchStep& step);
void batch_concat(BatchStep& step);
void batch_quantized_concat(BatchStep& step);
void batch_split(BatchStep& step);
void batch_slice(BatchStep& step);
void batch_gather(BatchStep& step);
void batch_gather_elements(BatchStep& step);
void batch_gather_nd(BatchStep& step);
void batch_scatter_elements(BatchStep& step);
void batch_pad(BatchStep& step);

}  // namespace saccade
