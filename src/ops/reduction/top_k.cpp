#include <algorithm>
#include <numeric>

#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"
#include "ops/core/values.hpp"

namespace saccade {
namespace {

void infer_top_k(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "TopK of {} is not supported", to_string(context.dtype(0)));
  Shape to = context.shape(0);
  const int axis = axis_of(context.attributes(), to, -1);
  const auto k = context.integers(1, "TopK's k");
  if (k.size() != 1 || k[0] < 0 || k[0] > to[axis])
    fail(ErrorCode::kInvalidFile, "TopK can't take {} of {}", fmt::join(k, ", "), to[axis]);
  to[axis] = k[0];
  const DType types[] = {context.dtype(0), DType::kInt64};
  for (int i = 0; i < std::min(context.output_count(), 2); ++i) context.output(i, types[i], to);
}

/// Whether element A precedes B: larger (or smaller) first, the lower index among equals. NaN is greater than all
/// numbers.
template <typename T>
class Before {
 public:
  Before(const T* row, std::int64_t inner, bool largest) : row_(row), inner_(inner), largest_(largest) {}

  bool operator()(std::int64_t a, std::int64_t b) const {
    const Accumulator<T> x = row_[a * inner_];
    const Accumulator<T> y = row_[b * inner_];
    if (above(x, y)) return largest_;
    if (above(y, x)) return !largest_;
    return a < b;
  }

 private:
  static bool above(Accumulator<T> x, Accumulator<T> y) { return x > y || (x != x && y == y); }

  const T* row_;
  std::int64_t inner_;
  bool largest_;
};

template <typename T>
void top_k_of(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const int axis = axis_of(context.attributes(), from.shape, -1);
  const bool largest = context.attributes().integer("largest", 1) != 0;
  const std::int64_t count = from.shape[axis];
  const std::int64_t inner = from.strides()[axis];
  const std::int64_t k = Indices(context.input(1))[0];
  const std::int64_t rows = count == 0 ? 0 : from.elements() / count;
  T* values = context.wants(0) ? static_cast<T*>(context.output(0).data) : nullptr;
  auto* places = context.wants(1) ? static_cast<std::int64_t*>(context.output(1).data) : nullptr;
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t outer = row / inner;
    const T* source = static_cast<const T*>(from.data) + outer * count * inner + row % inner;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), Before<T>(source, inner, largest));
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t at = (outer * k + i) * inner + row % inner;
      const std::int64_t place = order[static_cast<std::size_t>(i)];
      if (values != nullptr) values[at] = source[place * inner];
      if (places != nullptr) places[at] = place;
    }
  }
}

void top_k(const KernelContext& context) {
  with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { top_k_of<T>(context); });
}

constexpr Op kTopKOps[] = {{"", "TopK", infer_top_k, top_k, {.arity = {2, 2}, .cost = {.per = CostPer::kInput}}}};

}  // namespace

std::span<const Op> top_k_ops() { return kTopKOps; }

}  // namespace saccade
