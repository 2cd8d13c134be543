#pragma once

#include <map>
#include <string>
#include <vector>

#include "op_case/op_case.hpp"
#include "support/graph_builder.hpp"

// Networks whose slices and concatenations need no copy.
namespace saccade {

using Values = std::vector<ValueId>;

/// GRAPH, whose intermediate images are stored channels-last.
Graph with_images_channels_last(Graph graph);

/// Small networks on images of one size. Intermediates are channels-last; inputs and outputs are not.
class Network {
 public:
  explicit Network(DType dtype = DType::kFloat32, std::int64_t height = 5, std::int64_t width = 6,
                   std::int64_t images = 1)
      : dtype_(dtype), image_{images, 0, height, width} {}

  ValueId input(std::int64_t channels) {
    Shape shape = image_;
    shape[1] = channels;
    const ValueId x = b_.input("x" + std::to_string(inputs_++), shape, dtype_);
    return op("Relu", {x}, channels);
  }
  ValueId op(const std::string& name, Values inputs, std::int64_t channels,
             const test::GraphBuilder::AttributeList& attributes = {}) {
    last_ = b_.op(name, std::move(inputs), attributes);
    channels_[last_] = channels;
    return last_;
  }
  /// Padded to keep the image size. A post-op adds ADDED.
  ValueId conv(ValueId x, std::int64_t filters, std::int64_t kernel, std::int64_t group = 1,
               ValueId added = ValueId::kNone) {
    const float bound = 1.0F / static_cast<float>(kernel * kernel);
    const std::int64_t pad = kernel / 2;
    Values inputs{x, weights({filters, channels_.at(x) / group, kernel, kernel}, bound), weights({filters}, 1)};
    if (added != ValueId::kNone) inputs.push_back(added);
    op("Conv", inputs, filters, {{"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}, {"group", group}});
    if (added != ValueId::kNone) b_.graph().node(b_.graph().value(last_).producer).post_ops = {{"Add", 0, 0, 3}};
    return last_;
  }
  ValueId slice(ValueId x, std::int64_t from, std::int64_t to) {
    return op("Slice", {x, b_.ints({from}), b_.ints({to}), b_.ints({1})}, to - from);
  }
  ValueId concat(const Values& values) {
    std::int64_t channels = 0;
    for (ValueId value : values) channels += channels_.at(value);
    return op("Concat", values, channels, {{"axis", std::int64_t{1}}});
  }
  ValueId max_pool(ValueId x) {
    return op("MaxPool", {x}, channels_.at(x),
              {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  }
  std::int64_t channels(ValueId x) const { return channels_.at(x); }
  test::GraphBuilder& builder() { return b_; }

  Graph build(const Values& outputs) {
    Values ends;
    for (ValueId output : outputs) ends.push_back(b_.op("Abs", {output}));
    return with_images_channels_last(b_.build(ends));
  }

 private:
  ValueId weights(const Shape& shape, float bound) {
    return b_.constant(random_elements(dtype_, shape, -bound, bound, ++seed_));
  }

  test::GraphBuilder b_;
  DType dtype_;
  Shape image_;
  std::map<ValueId, std::int64_t> channels_;
  ValueId last_ = ValueId::kNone;
  int inputs_ = 0;
  std::uint32_t seed_ = 100;
};

/// The operators that PLAN launches: "Conv Conv Concat".
std::string launches(const Plan& plan);

/// YOLO's C2f block: the two slices of a convolution's output, of HALF channels each, and what follows the second,
/// concatenated.
Graph c2f(DType dtype, std::int64_t half);

/// Convolutions, pools, slices and concatenations in a random order, on one image or two.
Graph random_network(std::uint32_t seed, DType dtype = DType::kFloat32);

}  // namespace saccade
