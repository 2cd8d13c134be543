#include "ops/layers/strided_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "tensor/view.hpp"

namespace saccade {
namespace {

enum AttentionInput : std::size_t { kQuery, kKey, kValue, kMask, kOperands };
constexpr std::array<const char*, kOperands> kNames = {"query", "key", "value", "mask"};

/// Whether the pattern accesses each of ELEMENTS elements exactly once: its loops, sorted by step, are those of a dense
/// tensor.
bool accesses_each_once(const AccessPattern& pattern, std::int64_t elements) {
  std::vector<AffineLoop> all;
  for (const AccessPattern::Loop& loop : pattern.loops) all.insert(all.end(), loop.begin(), loop.end());
  std::ranges::sort(all, {}, &AffineLoop::step);
  std::int64_t next = 1;
  for (const AffineLoop& affine : all) {
    if (affine.step != next) return false;
    next *= affine.count;
  }
  return pattern.offset == 0 && next == elements;
}

/// Whether no two iterations of LOOP have the same offset: sorted, each step is beyond the smaller ones.
bool visits_once(AccessPattern::Loop loop) {
  std::ranges::sort(loop, {}, &AffineLoop::step);
  std::int64_t span = 1;
  for (const AffineLoop& affine : loop) {
    if (affine.step < span) return false;
    span += affine.step * (affine.count - 1);
  }
  return true;
}

void check_fit(const AttentionPatterns& patterns) {
  const auto require = [](bool right, const char* what) {
    if (!right) fail(ErrorCode::kInvalidFile, "StridedAttention's {} do not fit together", what);
  };
  const auto same = [](const AccessPattern& a, std::size_t i, const AccessPattern& b, std::size_t j) {
    return a.iterations(i) == b.iterations(j);
  };
  const AccessPattern* const inputs[] = {&patterns.query, &patterns.key, &patterns.value};
  for (const AccessPattern* pattern : inputs) require(same(*pattern, 0, patterns.output, 0), "batches");
  require(same(patterns.query, 1, patterns.output, 1), "queries");
  require(same(patterns.key, 1, patterns.value, 1), "keys and values");
  require(same(patterns.query, 2, patterns.key, 2) && same(patterns.value, 2, patterns.output, 2), "channels");
  // Nothing else limits their numbers: at most that of the elements.
  require(visits_once(patterns.key.loops[1]), "keys");
  require(visits_once(patterns.query.loops[2]), "channels");
  if (!patterns.mask) return;
  require(same(*patterns.mask, 0, patterns.output, 0) && same(*patterns.mask, 1, patterns.output, 1) &&
              same(*patterns.mask, 2, patterns.key, 1),
          "mask and keys");
}

Shape shape_of(const Attributes& attributes, DType dtype) {
  const Shape shape(attributes.integers("shape"));
  static_cast<void>(bytes_of(dtype, shape));
  if (shape.elements() == 0) fail(ErrorCode::kInvalidFile, "StridedAttention's output is empty");
  return shape;
}

void infer_strided_attention(InferContext& context) {
  context.require_outputs(1);
  require_type<float, Float16, BFloat16, double>(context.dtype(kQuery), "StridedAttention");
  for (const int i : {kKey, kValue})
    if (context.dtype(i) != context.dtype(kQuery))
      fail(ErrorCode::kInvalidFile, "StridedAttention's {} are {}, not {}", kNames[static_cast<std::size_t>(i)],
           to_string(context.dtype(i)), to_string(context.dtype(kQuery)));
  if (context.has(kMask)) require_type<float, Float16, BFloat16, double>(context.dtype(kMask), "a mask");
  std::array<std::int64_t, kOperands> elements{};
  for (std::size_t i = 0; i < kOperands; ++i)
    if (context.has(static_cast<int>(i))) elements[i] = context.shape(static_cast<int>(i)).elements();
  const Shape shape = shape_of(context.attributes(), context.dtype(kQuery));
  static_cast<void>(attention_patterns(context.attributes(), elements, shape));
  context.output(0, context.dtype(kQuery), shape);
}

/// An operand's elements by its loops' indices, in float64.
class Elements {
 public:
  Elements(const TensorView& view, const AccessPattern& pattern) : pattern_(pattern) {
    with_float(view.dtype, [&]<typename T>(std::type_identity<T>) {
      for (const T& element : view.as<const T>()) all_.push_back(static_cast<double>(element));
    });
  }
  double at(std::int64_t batch, std::int64_t token, std::int64_t channel) const {
    return all_[static_cast<std::size_t>(pattern_.offset + pattern_.along(0, batch) + pattern_.along(1, token) +
                                         pattern_.along(2, channel))];
  }

 private:
  const AccessPattern& pattern_;
  std::vector<double> all_;
};

/// Softmax over one query's SCORES.
void soften(std::vector<double>& scores) {
  const double greatest = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - greatest);
  for (double& score : scores) score /= sum;
}

void attend(const KernelContext& context) {
  std::array<std::int64_t, kOperands> counts{};
  for (std::size_t i = 0; i < kOperands; ++i)
    if (context.has(static_cast<int>(i))) counts[i] = context.input(static_cast<int>(i)).elements();
  const AttentionPatterns patterns = attention_patterns(context.attributes(), counts, context.output().shape);
  const Elements query(context.input(kQuery), patterns.query);
  const Elements key(context.input(kKey), patterns.key);
  const Elements value(context.input(kValue), patterns.value);
  std::optional<Elements> mask;
  if (patterns.mask) mask.emplace(context.input(kMask), *patterns.mask);
  const double scale = context.attributes().real("scale", 1);
  std::vector<double> scores(static_cast<std::size_t>(patterns.keys()));
  const auto compute = [&](std::int64_t b, std::int64_t m, auto&& store) {
    for (std::int64_t n = 0; n < patterns.keys(); ++n) {
      double sum = 0;
      for (std::int64_t c = 0; c < patterns.channels(); ++c) sum += query.at(b, m, c) * key.at(b, n, c);
      scores[static_cast<std::size_t>(n)] = scale * sum + (mask ? mask->at(b, m, n) : 0);
    }
    soften(scores);
    for (std::int64_t e = 0; e < patterns.value_channels(); ++e) {
      double sum = 0;
      for (std::int64_t n = 0; n < patterns.keys(); ++n) sum += scores[static_cast<std::size_t>(n)] * value.at(b, n, e);
      store(patterns.output.offset + patterns.output.along(0, b) + patterns.output.along(1, m) +
                patterns.output.along(2, e),
            sum);
    }
  };
  with_float(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    const std::span<T> output = context.out<T>();
    for (std::int64_t b = 0; b < patterns.batches(); ++b)
      for (std::int64_t m = 0; m < patterns.queries(); ++m)
        compute(b, m, [&](std::int64_t at, double x) {
          if constexpr (std::is_same_v<T, double>) {
            output[static_cast<std::size_t>(at)] = x;
          } else {
            output[static_cast<std::size_t>(at)] = static_cast<T>(static_cast<float>(x));
          }
        });
  });
}

/// PATTERN in terms of memory offsets of a tensor of SHAPE in LAYOUT; nullopt if it is not affine there.
std::optional<AccessPattern> in_memory(const AccessPattern& pattern, const Shape& shape, Layout layout) {
  return layout == Layout::kRowMajor ? pattern : compose(pattern, shape, {.steps = dense_strides(shape, layout)});
}

/// A node's patterns in terms of memory offsets, for the layouts that LAYOUT_OF returns.
template <typename LayoutOf>
std::optional<AttentionPatterns> patterns_with(const Graph& graph, const Node& node, const LayoutOf& layout_of) {
  AttentionPatterns patterns = attention_patterns(graph, node);
  const auto move = [&](AccessPattern& pattern, ValueId id) {
    const Value& value = graph.value(id);
    const auto moved = in_memory(pattern, value.type.shape, layout_of(value));
    if (moved) pattern = *moved;
    return moved.has_value();
  };
  if (!move(patterns.query, node.inputs[kQuery]) || !move(patterns.key, node.inputs[kKey]) ||
      !move(patterns.value, node.inputs[kValue]) || !move(patterns.output, node.outputs[0]) ||
      (patterns.mask && !move(*patterns.mask, node.inputs[kMask])))
    return std::nullopt;
  return patterns;
}

constexpr OpTraits kStridedAttentionTraits{.arity = {3, 4}, .float_inputs = 3, .cost = {.per = CostPer::kProduct}};

constexpr Op kStridedAttentionOps[] = {
    {"saccade", "StridedAttention", infer_strided_attention, attend, kStridedAttentionTraits}};

}  // namespace

AttentionPatterns attention_patterns(const Attributes& attributes, std::span<const std::int64_t> inputs,
                                     const Shape& shape) {
  const auto pattern = [&](std::size_t i) {
    return AccessPattern::from_integers(attributes.integers(kNames[i]), i < inputs.size() ? inputs[i] : 0);
  };
  AttentionPatterns patterns{.query = pattern(kQuery), .key = pattern(kKey), .value = pattern(kValue)};
  if (inputs.size() > kMask && inputs[kMask] > 0) patterns.mask = pattern(kMask);
  patterns.output = AccessPattern::from_integers(attributes.integers("output"), shape.elements());
  if (!accesses_each_once(patterns.output, shape.elements()))
    fail(ErrorCode::kInvalidFile, "StridedAttention does not write each element of its output once");
  check_fit(patterns);
  return patterns;
}

AttentionPatterns attention_patterns(const Graph& graph, const Node& node) {
  std::array<std::int64_t, kOperands> elements{};
  for (std::size_t i = 0; i < std::min<std::size_t>(kOperands, node.inputs.size()); ++i)
    if (node.inputs[i] != ValueId::kNone) elements[i] = graph.value(node.inputs[i]).type.shape.elements();
  return attention_patterns(node.attributes, elements, graph.value(node.outputs[0]).type.shape);
}

std::optional<AttentionPatterns> patterns_in_memory(const Graph& graph, const Node& node) {
  return patterns_with(graph, node, [](const Value& value) { return value.layout; });
}

LayoutRule attention_layout_rule(const Graph& graph, const Node& node) {
  const int rank = graph.value(node.outputs[0]).type.shape.rank();
  // Number of operands with contiguous channels; -1 if the layout is not affine.
  const auto contiguous = [&](Layout layout) {
    const auto patterns = patterns_with(graph, node, [&](const Value& value) {
      return rank >= 3 && value.type.shape.rank() == rank && !value.constant ? layout : Layout::kRowMajor;
    });
    if (!patterns) return -1;
    int count = 0;
    for (const AccessPattern* pattern : {&patterns->query, &patterns->key, &patterns->value, &patterns->output})
      if (pattern->loops[2].empty() || pattern->loops[2].back().step == 1) ++count;
    return count;
  };
  const int row_major = contiguous(Layout::kRowMajor);
  const int channels_last = contiguous(Layout::kChannelsLast);
  if (row_major == channels_last) return LayoutRule::kAny;
  return row_major > channels_last ? LayoutRule::kRowMajor : LayoutRule::kChannelsLast;
}

std::span<const Op> strided_attention_ops() { return kStridedAttentionOps; }

}  // namespace saccade
