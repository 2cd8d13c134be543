#include "ops/interpreter/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ops/layers/einsum_equation.hpp"
#include "ops/layers/strided_attention.hpp"
#include "ops/sampling/regions.hpp"

namespace saccade {
namespace {

/// A node with its tensors' shapes.
struct Costed {
  const Graph& graph;
  const Node& node;

  bool has(std::size_t i) const { return i < node.inputs.size() && node.inputs[i] != ValueId::kNone; }
  const Shape& shape(std::size_t i) const { return graph.value(node.inputs[i]).type.shape; }
  double input(std::size_t i) const { return has(i) ? static_cast<double>(shape(i).elements()) : 0; }
  /// Dimension AT of input I, from the back if it is negative; 1 if there is none.
  double dim(std::size_t i, int at) const {
    if (!has(i)) return 1;
    const int axis = at < 0 ? at + shape(i).rank() : at;
    return axis < 0 || axis >= shape(i).rank() ? 1 : static_cast<double>(shape(i)[axis]);
  }
  double outputs() const { return elements(node.outputs); }
  double inputs() const { return elements(node.inputs); }

 private:
  double elements(std::span<const ValueId> values) const {
    double sum = 0;
    for (ValueId id : values)
      if (id != ValueId::kNone) sum += static_cast<double>(graph.value(id).type.shape.elements());
    return sum;
  }
};

double product_of(const std::vector<std::int64_t>& sizes) {
  double product = 1;
  for (std::int64_t size : sizes) product *= std::max(1.0, static_cast<double>(size));
  return product;
}

/// The size of one filter: all weights divided by the first dimension, the number of filters.
double filter_taps(const Costed& at, std::size_t weights) {
  return at.input(weights) / std::max(1.0, at.dim(weights, 0));
}

double convolution(const Costed& at) {
  const bool quantized = at.node.op == "QLinearConv";
  return at.outputs() * filter_taps(at, quantized ? 3 : 1);
}

// Weights are channels x filters x taps here.
double transposed_convolution(const Costed& at) { return at.input(0) * filter_taps(at, 1); }

/// Every output sums as many products as A has columns.
double matrix_product(const Costed& at) {
  const bool transposed = at.node.op == "Gemm" && at.node.attributes.integer("transA", 0) != 0;
  return at.outputs() * at.dim(0, transposed ? -2 : -1);
}

/// Each query is multiplied with every key, past ones included, and every value.
double attention(const Costed& at) {
  return (at.input(0) + at.outputs()) * (at.dim(1, -2) + (at.has(4) ? at.dim(4, -2) : 0));
}

/// The same for any access pattern.
double strided_attention(const Costed& at) {
  const AttentionPatterns patterns = attention_patterns(at.graph, at.node);
  const auto pairs =
      static_cast<double>(patterns.batches() * patterns.queries()) * static_cast<double>(patterns.keys());
  return pairs * static_cast<double>(patterns.channels() + patterns.value_channels());
}

double einsum(const Costed& at) {
  std::vector<Shape> inputs;
  for (std::size_t i = 0; i < at.node.inputs.size(); ++i)
    if (at.has(i)) inputs.push_back(at.shape(i));
  double steps = 1;
  for (const auto& [label, extent] : read_einsum(at.node.attributes, inputs).extents)
    steps *= static_cast<double>(extent);
  return steps;
}

/// Every box may be compared with every kept box of its class.
double suppression(const Costed& at) { return at.input(1) * at.dim(1, 2); }

/// Without sampling_ratio the number of samples per bin depends on the regions' sizes; up to this along each side.
double roi_align(const Costed& at) {
  const auto samples = static_cast<double>(at.node.attributes.integer("sampling_ratio", 0));
  constexpr auto kMost = static_cast<double>(kMaxRegionSamples);
  return at.outputs() * (samples == 0 ? kMost * kMost : samples * samples);
}

/// Bins may overlap: each may cover its whole map.
double roi_pool(const Costed& at) { return at.outputs() * at.dim(0, 2) * at.dim(0, 3); }

double window(const Costed& at) { return at.outputs() * product_of(at.node.attributes.integers("kernel_shape")); }

double neighbour_channels(const Costed& at) {
  return at.outputs() * std::min(static_cast<double>(at.node.attributes.integer("size", 1)), at.dim(0, 1));
}

/// Sorting N elements takes about N log N comparisons; 64 exceeds the logarithm of any N.
double sorting(const Costed& at) { return 64 * (at.inputs() + at.outputs()); }

/// Elimination takes N steps for each of a matrix's elements.
double determinant(const Costed& at) { return at.inputs() * at.dim(0, -1); }

/// A cubic filter has 4 taps per axis, and antialiasing widens it so that each input is read up to 4 times.
double interpolation(const Costed& at) {
  constexpr double kTaps = 4;
  return kTaps * static_cast<double>(std::max(1, at.shape(0).rank())) * (at.inputs() + at.outputs());
}

double sampling(const Costed& at) {
  constexpr double kCubicTaps = 16;
  return kCubicTaps * at.outputs();
}

struct Row {
  std::string_view op;
  double (*steps)(const Costed&);
};

constexpr std::array kRows = {
    Row{"Attention", attention},
    Row{"AveragePool", window},
    Row{"Conv", convolution},
    Row{"ConvInteger", convolution},
    Row{"ConvTranspose", transposed_convolution},
    Row{"DeformConv", convolution},
    Row{"Det", determinant},
    Row{"Einsum", einsum},
    Row{"Gemm", matrix_product},
    Row{"GridSample", sampling},
    Row{"LRN", neighbour_channels},
    Row{"LpPool", window},
    Row{"MatMul", matrix_product},
    Row{"MatMulInteger", matrix_product},
    Row{"MaxPool", window},
    Row{"MaxRoiPool", roi_pool},
    Row{"NonMaxSuppression", suppression},
    Row{"NormalizedProduct", matrix_product},
    Row{"QLinearAveragePool", window},
    Row{"QLinearConv", convolution},
    Row{"QLinearMatMul", matrix_product},
    Row{"Resize", interpolation},
    Row{"RoiAlign", roi_align},
    Row{"StridedAttention", strided_attention},
    Row{"TopK", sorting},
    Row{"Unique", sorting},
};

}  // namespace

double steps_of(const Graph& graph, const Node& node) {
  const Costed at{graph, node};
  const double moved = at.inputs() + at.outputs();
  const auto* row = std::ranges::find(kRows, node.op, &Row::op);
  return row == kRows.end() ? moved : std::max(moved, row->steps(at));
}

}  // namespace saccade
