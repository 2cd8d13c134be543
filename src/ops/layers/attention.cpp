#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"

// Attention: softmax(scale * Q K^T + bias) V per head; the bias combines mask, causality, window and padding. Inputs:
// Q, K, V, mask, past key, past value, number of valid keys. Computed in float64.
namespace saccade {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

/// (batch, heads, length, size) of a tensor in this form, or in (batch, length, heads * size).
Shape heads_shape(const Shape& shape, std::int64_t heads) {
  if (shape.rank() == 4) return shape;
  if (shape.rank() != 3)
    fail(ErrorCode::kInvalidFile, "Attention takes tensors of 3 or 4 dimensions, not {}", shape.to_string());
  if (heads < 1 || shape[2] % heads != 0)
    fail(ErrorCode::kInvalidFile, "a tensor of shape {} can't be cut into {} heads: see q_num_heads and kv_num_heads",
         shape.to_string(), heads);
  return {shape[0], heads, shape[1], shape[2] / heads};
}

/// The four-dimensional shapes of queries, and of keys and values with their past.
struct Extents {
  Shape q;
  Shape k;
  Shape v;
};

void check_extents(const Extents& extents) {
  const auto& [q, k, v] = extents;
  if (q[0] != k[0] || k[0] != v[0] || q[3] != k[3] || k[1] != v[1] || k[2] != v[2])
    fail(ErrorCode::kInvalidFile, "queries {}, keys {} and values {} do not fit together", q.to_string(), k.to_string(),
         v.to_string());
  if (k[1] == 0 || q[1] % k[1] != 0)
    fail(ErrorCode::kInvalidFile, "{} heads of queries can't share {} of keys", q[1], k[1]);
}

void check_past(const InferContext& context, int i, const Shape& now) {
  const Shape& past = context.shape(i);
  if (past.rank() != 4 || past[0] != now[0] || past[1] != now[1] || past[3] != now[3])
    fail(ErrorCode::kInvalidFile, "the past (input {}) of shape {} does not fit {}", i, past.to_string(),
         now.to_string());
  if (context.dtype(i) != context.dtype(i - 3))
    fail(ErrorCode::kInvalidFile, "the past (input {}) is {}, not {}", i, to_string(context.dtype(i)),
         to_string(context.dtype(i - 3)));
}

/// The mask broadcasts to (batch, heads, queries, keys), except that its last dimension may be shorter.
void check_mask(const InferContext& context, const Extents& extents) {
  if (!is_float(context.dtype(3)) && context.dtype(3) != DType::kBool)
    fail(ErrorCode::kUnsupported, "a mask of {} is not supported", to_string(context.dtype(3)));
  const Shape& mask = context.shape(3);
  const std::int64_t wanted[] = {extents.q[0], extents.q[1], extents.q[2], extents.k[2]};
  bool fits = mask.rank() >= 1 && mask.rank() <= 4;
  for (int i = 0; fits && i < mask.rank(); ++i) {
    const std::int64_t dim = wanted[4 - mask.rank() + i];
    fits = i == mask.rank() - 1 ? mask[i] <= dim : mask[i] == dim || mask[i] == 1;
  }
  if (!fits)
    fail(ErrorCode::kInvalidFile, "a mask of shape {} does not fit {} queries and {} keys", mask.to_string(), wanted[2],
         wanted[3]);
}

void check_valid_keys(const InferContext& context, const Extents& extents) {
  if (context.has(4)) fail(ErrorCode::kInvalidFile, "nonpad_kv_seqlen can't go with past keys");
  if (context.dtype(6) != DType::kInt64 || context.shape(6) != Shape{extents.q[0]})
    fail(ErrorCode::kInvalidFile, "nonpad_kv_seqlen must hold one int64 for each of {} images, not {} of shape {}",
         extents.q[0], to_string(context.dtype(6)), context.shape(6).to_string());
}

void check_attributes(const Attributes& attributes) {
  const std::int64_t mode = attributes.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) fail(ErrorCode::kInvalidFile, "qk_matmul_output_mode {} is not 0, 1, 2 or 3", mode);
  for (const char* side : {"left_window_size", "right_window_size"})
    if (attributes.integer(side, -1) < -1)
      fail(ErrorCode::kInvalidFile, "{} {} is neither -1 nor a size", side, attributes.integer(side, -1));
  if (attributes.has("softmax_precision") && !is_float(dtype_of_onnx(attributes.integer("softmax_precision", 1))))
    fail(ErrorCode::kInvalidFile, "softmax_precision {} is not a floating-point type",
         attributes.integer("softmax_precision", 1));
}

void infer_attention(InferContext& context) {
  const Attributes& attributes = context.attributes();
  for (int i = 0; i < 3; ++i)
    if (!is_float(context.dtype(i)))
      fail(ErrorCode::kUnsupported, "Attention of {} is not supported", to_string(context.dtype(i)));
  if (context.dtype(1) != context.dtype(0))
    fail(ErrorCode::kInvalidFile, "keys are {}, not {} like the queries", to_string(context.dtype(1)),
         to_string(context.dtype(0)));
  check_attributes(attributes);
  const std::int64_t kv_heads = attributes.integer("kv_num_heads", 0);
  Extents extents{heads_shape(context.shape(0), attributes.integer("q_num_heads", 0)),
                  heads_shape(context.shape(1), kv_heads), heads_shape(context.shape(2), kv_heads)};
  if (context.has(4) != context.has(5)) fail(ErrorCode::kInvalidFile, "past key and past value go together");
  if (context.has(4)) {
    check_past(context, 4, extents.k);
    check_past(context, 5, extents.v);
    extents.k[2] = checked_add(extents.k[2], context.shape(4)[2]);
    extents.v[2] = checked_add(extents.v[2], context.shape(5)[2]);
  }
  check_extents(extents);
  if (context.has(3)) check_mask(context, extents);
  if (context.has(6)) check_valid_keys(context, extents);
  const auto& [q, k, v] = extents;
  const bool flat = context.shape(0).rank() == 3;
  context.output(0, context.dtype(0),
                 flat ? Shape{q[0], q[2], checked_multiply(q[1], v[3])} : Shape{q[0], q[1], q[2], v[3]});
  context.output(1, context.dtype(1), k);
  context.output(2, context.dtype(2), v);
  context.output(3, context.dtype(0), {q[0], q[1], q[2], k[2]});
}

/// A tensor by heads, dense in the order of its shape.
struct Heads {
  Shape shape;
  std::vector<double> values;

  std::size_t at(std::int64_t image, std::int64_t head, std::int64_t row) const {
    return static_cast<std::size_t>(((image * shape[1] + head) * shape[2] + row) * shape[3]);
  }
};

std::vector<double> reals(const TensorView& view) {
  std::vector<double> values;
  with_float(view.dtype, [&]<typename T>(std::type_identity<T>) {
    const auto given = view.as<const T>();
    values.assign(given.begin(), given.end());
  });
  return values;
}

void write(const std::vector<double>& values, const TensorView& to) {
  with_float(to.dtype, [&]<typename T>(std::type_identity<T>) {
    std::ranges::transform(values, to.as<T>().begin(),
                           [](double value) { return static_cast<T>(static_cast<Accumulator<T>>(value)); });
  });
}

Heads heads_of(const TensorView& view, std::int64_t heads) {
  Heads result{heads_shape(view.shape, heads), reals(view)};
  if (view.shape.rank() == 4) return result;
  const std::vector<double> rows = result.values;
  auto from = rows.begin();
  for (std::int64_t image = 0; image < result.shape[0]; ++image)
    for (std::int64_t row = 0; row < result.shape[2]; ++row)
      for (std::int64_t head = 0; head < result.shape[1]; ++head, from += result.shape[3])
        std::copy_n(from, result.shape[3],
                    result.values.begin() + static_cast<std::ptrdiff_t>(result.at(image, head, row)));
  return result;
}

/// Input PAST, if present, concatenated with input NOW.
Heads joined(const KernelContext& context, int now, int past) {
  Heads fresh = heads_of(context.input(now), context.attributes().integer("kv_num_heads", 0));
  if (!context.has(past)) return fresh;
  const Heads old{context.input(past).shape, reals(context.input(past))};
  Heads both{fresh.shape, {}};
  both.shape[2] += old.shape[2];
  const auto append = [&both](const Heads& heads, std::int64_t plane) {
    const auto count = heads.shape[2] * heads.shape[3];
    const auto first = heads.values.begin() + plane * count;
    both.values.insert(both.values.end(), first, first + count);
  };
  for (std::int64_t plane = 0; plane < both.shape[0] * both.shape[1]; ++plane) {
    append(old, plane);
    append(fresh, plane);
  }
  return both;
}

/// The additive bias of a query's scores: 0 or the mask's value for visible keys, minus infinity for others.
class Bias {
 public:
  Bias(const KernelContext& context, const Shape& scores) : queries_(scores[2]) {
    const Attributes& attributes = context.attributes();
    left_ = attributes.integer("left_window_size", -1);
    right_ = attributes.integer("right_window_size", -1);
    causal_ = attributes.integer("is_causal", 0) != 0;
    if (context.has(4)) past_ = context.input(4).shape[2];
    if (context.has(6)) take_valid(context.input(6), scores[3]);
    if (context.has(3)) take_mask(context.input(3));
  }

  void row(std::int64_t image, std::int64_t head, std::int64_t query, std::vector<double>& to) const {
    const auto of_image = static_cast<std::size_t>(image);
    // With a complete cache, the queries are the last of its valid keys.
    const std::int64_t place = query + (valid_.empty() ? past_ : valid_[of_image] - queries_);
    for (std::int64_t key = 0; key < std::ssize(to); ++key) {
      const bool hidden = (causal_ && key > place) || (left_ >= 0 && place - key > left_) ||
                          (right_ >= 0 && key - place > right_) || (!valid_.empty() && key >= valid_[of_image]);
      to[static_cast<std::size_t>(key)] = hidden ? kMasked : mask_at(image, head, query, key);
    }
  }

 private:
  void take_valid(const TensorView& view, std::int64_t keys) {
    valid_ = Indices(view);
    for (std::size_t i = 0; i < valid_.size(); ++i)
      if (valid_[i] < 0 || valid_[i] > keys)
        fail(ErrorCode::kInvalidArgument, "nonpad_kv_seqlen {} is not a number of {} keys", valid_[i], keys);
  }

  void take_mask(const TensorView& view) {
    if (view.dtype == DType::kBool) {
      const auto allowed = view.as<const bool>();
      mask_.resize(allowed.size());
      std::ranges::transform(allowed, mask_.begin(), [](bool may) { return may ? 0 : kMasked; });
    } else {
      mask_ = reals(view);
    }
    has_mask_ = true;
    keys_ = view.shape[view.shape.rank() - 1];
    std::int64_t stride = keys_;
    for (int i = view.shape.rank() - 2; i >= 0; --i) {
      strides_[4 - view.shape.rank() + i] = view.shape[i] == 1 ? 0 : stride;
      stride *= view.shape[i];
    }
  }

  double mask_at(std::int64_t image, std::int64_t head, std::int64_t query, std::int64_t key) const {
    if (!has_mask_) return 0;
    if (key >= keys_) return kMasked;
    return mask_[static_cast<std::size_t>(image * strides_[0] + head * strides_[1] + query * strides_[2] + key)];
  }

  std::int64_t queries_;
  std::int64_t left_ = -1;
  std::int64_t right_ = -1;
  std::int64_t past_ = 0;
  std::int64_t keys_ = 0;
  std::int64_t strides_[4] = {};
  bool causal_ = false;
  bool has_mask_ = false;
  Indices valid_;
  std::vector<double> mask_;
};

/// A row whose scores are all minus infinity although none is masked yields NaN.
void softmax(std::vector<double>& scores) {
  const double largest = std::ranges::max(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

double dot(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// Computes a query's attention weights from its scores; the intermediate result requested as output 3 is copied to
/// SHOWN.
void weigh(std::vector<double>& scores, const std::vector<double>& bias, const Attributes& attributes, double* shown) {
  const std::int64_t mode = attributes.integer("qk_matmul_output_mode", 0);
  const auto show = [&](std::int64_t step) {
    if (shown != nullptr && step == mode) std::ranges::copy(scores, shown);
  };
  show(0);
  if (const double cap = attributes.real("softcap", 0); cap > 0)
    for (double& score : scores) score = cap * std::tanh(score / cap);
  show(1);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += bias[i];
  show(2);
  // A query without visible keys yields zeros. This is decided by the bias, since scores may be NaN.
  if (std::ranges::all_of(bias, [](double value) { return value == kMasked; }))
    std::ranges::fill(scores, 0);
  else
    softmax(scores);
  show(3);
}

void reference_attention(const KernelContext& context) {
  const Heads q = heads_of(context.input(0), context.attributes().integer("q_num_heads", 0));
  const Heads k = joined(context, 1, 4);
  const Heads v = joined(context, 2, 5);
  if (context.wants(1)) write(k.values, context.output(1));
  if (context.wants(2)) write(v.values, context.output(2));
  Heads scores{{q.shape[0], q.shape[1], q.shape[2], k.shape[2]}, {}};
  if (context.wants(3)) scores.values.resize(static_cast<std::size_t>(scores.shape.elements()));
  const bool flat = context.input(0).shape.rank() == 3;
  std::vector<double> results(static_cast<std::size_t>(q.shape[0] * q.shape[1] * q.shape[2] * v.shape[3]));
  const double scale = context.attributes().has("scale") ? static_cast<double>(context.attributes().real("scale", 1))
                                                         : 1 / std::sqrt(static_cast<double>(q.shape[3]));
  const Bias bias(context, scores.shape);
  std::vector<double> weights(static_cast<std::size_t>(k.shape[2]));
  std::vector<double> allowed(weights.size());
  const auto compute = [&](std::int64_t image, std::int64_t head, std::int64_t query) {
    const std::int64_t shared = head / (q.shape[1] / k.shape[1]);
    for (std::int64_t key = 0; key < k.shape[2]; ++key)
      weights[static_cast<std::size_t>(key)] = scale * dot(q.values.data() + q.at(image, head, query),
                                                           k.values.data() + k.at(image, shared, key), q.shape[3]);
    bias.row(image, head, query, allowed);
    weigh(weights, allowed, context.attributes(),
          scores.values.empty() ? nullptr : scores.values.data() + scores.at(image, head, query));
    double* to = results.data() + v.shape[3] * (flat ? (image * q.shape[2] + query) * q.shape[1] + head
                                                     : (image * q.shape[1] + head) * q.shape[2] + query);
    for (std::int64_t key = 0; key < k.shape[2]; ++key)
      for (std::int64_t i = 0; i < v.shape[3]; ++i)
        to[i] +=
            weights[static_cast<std::size_t>(key)] * v.values[v.at(image, shared, key) + static_cast<std::size_t>(i)];
  };
  for (std::int64_t image = 0; image < q.shape[0]; ++image)
    for (std::int64_t head = 0; head < q.shape[1]; ++head)
      for (std::int64_t query = 0; query < q.shape[2]; ++query) compute(image, head, query);
  if (context.wants(3)) write(scores.values, context.output(3));
  if (context.wants(0)) write(results, context.output());
}

constexpr Op kAttentionOps[] = {
    {"", "Attention", infer_attention, reference_attention, {.arity = {3, 7}, .cost = {.per = CostPer::kProduct}}}};

}  // namespace

std::span<const Op> attention_ops() { return kAttentionOps; }

}  // namespace saccade
