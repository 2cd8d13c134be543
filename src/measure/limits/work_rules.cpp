#include "measure/limits/work_rules.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "ops/core/op.hpp"
#include "ops/layers/matmul_shape.hpp"
#include "ops/layers/strided_attention.hpp"
#include "ops/layers/window.hpp"
#include "ops/layers/winograd_window.hpp"

namespace saccade {
namespace {

bool has(const Node& node, std::size_t i) { return i < node.inputs.size() && node.inputs[i] != ValueId::kNone; }

const Shape& shape_of(const Graph& graph, ValueId id) { return graph.value(id).type.shape; }
const Shape& input_shape(const Graph& graph, const Node& node, std::size_t i) {
  return shape_of(graph, node.inputs[i]);
}

std::int64_t input_elements(const Graph& graph, const Node& node, std::size_t i) {
  return has(node, i) ? input_shape(graph, node, i).elements() : 0;
}

std::int64_t output_elements(const Graph& graph, const Node& node) {
  if (node.outputs.empty() || node.outputs[0] == ValueId::kNone) return 0;
  return shape_of(graph, node.outputs[0]).elements();
}

/// The factors' product, saturated at kMostProducts: the tensors need not fit any memory.
std::int64_t product_of(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product)) return kMostProducts;
  return std::min(product, kMostProducts);
}

/// Coverage of a sliding window over all axes.
struct Met {
  std::int64_t pairs = 1;   ///< (output, tap) pairs whose tap is inside the input
  std::int64_t inputs = 1;  ///< elements that some output reads
};

Met met_by(const Window& window, bool transposed) {
  const auto taps = taps_of(window, transposed);
  Met met;
  for (std::size_t axis = 0; axis < Window::kAxes; ++axis) {
    std::int64_t pairs = 0;
    std::vector<bool> is_read(static_cast<std::size_t>(window.in[axis]));
    for (std::int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
      for (std::int64_t out = 0; out < window.out[axis]; ++out) {
        const std::int64_t at = taps[axis].of(tap)[out];
        if (at < 0) continue;
        ++pairs;
        is_read[static_cast<std::size_t>(at)] = true;
      }
    }
    met.pairs = product_of({met.pairs, pairs});
    met.inputs = product_of({met.inputs, std::ranges::count(is_read, true)});
  }
  return met;
}

/// The index of a convolution's weights among its inputs; 0: the node is not a convolution.
std::size_t weights_of_convolution(const Node& node) {
  if (node.op == "Conv" || node.op == "ConvInteger" || node.op == "ConvTranspose") return 1;
  return node.op == "QLinearConv" ? 3 : 0;
}

bool is_pool(const Node& node) {
  return traits_of(node).cost.per == CostPer::kInput && node.attributes.has("kernel_shape");
}

/// The window of a convolution or a pool.
Window window_of(const Graph& graph, const Node& node) {
  const Shape& input = input_shape(graph, node, 0);
  if (const std::size_t weights = weights_of_convolution(node); weights != 0) {
    const auto kernel = kernel_of(node.attributes, input_shape(graph, node, weights));
    return node.op == "ConvTranspose" ? slide_transposed(node.attributes, input, kernel)
                                      : slide(node.attributes, input, kernel);
  }
  return slide(node.attributes, input, node.attributes.integers("kernel_shape"));
}

Products of_convolution(const Graph& graph, const Node& node) {
  const Shape& weights = input_shape(graph, node, weights_of_convolution(node));
  const Shape& input = input_shape(graph, node, 0);
  const Window window = window_of(graph, node);
  const bool transposed = node.op == "ConvTranspose";
  // Filters times the channels of their group; a transposed convolution's weights are (channels, filters of a group,
  // ...).
  const std::int64_t pairs_of_channels = product_of({input[0], weights[0], weights[1]});
  const Window::Axes& places = transposed ? window.in : window.out;
  return {product_of({pairs_of_channels, met_by(window, transposed).pairs}),
          product_of({pairs_of_channels, places[0], places[1], places[2], window.kernel[0], window.kernel[1],
                      window.kernel[2]}),
          node.op == "Conv" && node.attributes.integer("group", 1) == 1 && is_winograd_window(window)};
}

/// Two operands whose sums cannot be taken before the product.
Products of_einsum(const Graph& graph, const Node& node) {
  const std::string equation = node.attributes.text("equation");
  const std::size_t comma = equation.find(',');
  const std::size_t arrow = equation.find("->");
  if (node.inputs.size() != 2 || comma == std::string::npos || arrow == std::string::npos ||
      equation.find('.') != std::string::npos)
    return {};
  const std::string left = equation.substr(0, comma);
  const std::string right = equation.substr(comma + 1, arrow - comma - 1);
  const std::string out = equation.substr(arrow + 2);
  std::int64_t products = 1;
  std::string seen;
  for (std::size_t i = 0; i < 2; ++i) {
    int axis = 0;
    for (const char label : i == 0 ? left : right) {
      if (label == ' ') continue;
      const std::int64_t extent = input_shape(graph, node, i)[axis++];
      const bool alone = (left.find(label) == std::string::npos || right.find(label) == std::string::npos) &&
                         out.find(label) == std::string::npos;
      if (alone || seen.find(label) != std::string::npos) continue;
      seen += label;
      products = product_of({products, extent});
    }
  }
  return {products, products};
}

Products of_matmul(const Graph& graph, const Node& node, std::size_t right) {
  const MatMulShape shape(input_shape(graph, node, 0), input_shape(graph, node, right));
  const std::int64_t products = product_of({shape.batch, shape.m, shape.n, shape.k});
  return {products, products};
}

Products of_attention(const Graph& graph, const Node& node) {
  const AttentionPatterns patterns = attention_patterns(graph, node);
  const std::int64_t pairs = product_of({patterns.batches(), patterns.queries(), patterns.keys()});
  const std::int64_t products = product_of({pairs, patterns.channels() + patterns.value_channels()});
  return {products, products};
}

Products of_gemm(const Graph& graph, const Node& node) {
  const Shape& a = input_shape(graph, node, 0);
  const std::int64_t products =
      product_of({output_elements(graph, node), a[node.attributes.integer("transA", 0) != 0 ? 0 : 1]});
  return {products, products};
}

/// Operations per element of the output.
double operations_an_output(const Node& node) {
  const OpTraits& traits = traits_of(node);
  if (node.op == "Resize") return node.attributes.text("mode", "nearest") == "nearest" ? 0 : 2;
  if (traits.is_elementwise() && traits.is_variadic())
    return static_cast<double>(std::max<std::size_t>(node.inputs.size(), 2) - 1);
  return traits.cost.operations;
}

}  // namespace

Products products_of(const Graph& graph, const Node& node) {
  if (weights_of_convolution(node) != 0) return of_convolution(graph, node);
  if (node.op == "MatMul" || node.op == "MatMulInteger") return of_matmul(graph, node, 1);
  if (node.op == "QLinearMatMul") return of_matmul(graph, node, 3);
  if (node.op == "Gemm" || node.op == "NormalizedProduct") return of_gemm(graph, node);
  if (node.op == "Einsum") return of_einsum(graph, node);
  if (node.op == "StridedAttention") return of_attention(graph, node);
  return {};
}

double other_operations(const Graph& graph, const Node& node) {
  const auto outputs = static_cast<double>(output_elements(graph, node));
  const double fused = outputs * static_cast<double>(node.post_ops.size());
  const CostPer per = traits_of(node).cost.per;
  if (products_of(graph, node).with_padding != 0 || per == CostPer::kNothing) return fused;
  if (per == CostPer::kInput) return fused + static_cast<double>(elements_read(graph, node, 0));
  return fused + outputs * operations_an_output(node);
}

std::int64_t elements_read(const Graph& graph, const Node& node, std::size_t i) {
  const std::int64_t all = input_elements(graph, node, i);
  const std::int64_t outputs = output_elements(graph, node);
  if (node.op == "Where" && (i == 1 || i == 2)) {
    // Each element comes from one of the two: possibly all from the smaller.
    return i == 1 ? std::min(all, input_elements(graph, node, 2)) : 0;
  }
  const Reads reads = traits_of(node).reads;
  if (reads == Reads::kCounted) return 0;
  if (i != 0) return all;
  if (weights_of_convolution(node) != 0 || is_pool(node)) {
    const Shape& input = input_shape(graph, node, 0);
    return input[0] * input[1] * met_by(window_of(graph, node), node.op == "ConvTranspose").inputs;
  }
  if (node.op == "Slice" || node.op == "Pad") return std::min(all, outputs);
  if (node.op == "Resize") {
    const std::string mode = node.attributes.text("mode", "nearest");
    return std::min(all, outputs * (mode == "nearest" ? 1 : mode == "linear" ? 4 : 16));
  }
  if (reads != Reads::kAll) return 0;
  const Shape& input = input_shape(graph, node, 0);
  if (node.op == "DecodeYolov8") {  // only candidates' boxes
    const std::int64_t classes = node.attributes.integer("classes", 0);
    return all / input[1] * (classes == 0 ? input[1] - 4 : classes);
  }
  if (node.op == "DecodeYolov5" || node.op == "DecodeYolox" || node.op == "DecodeEndToEnd") return all / input[2];
  return all;
}

}  // namespace saccade
