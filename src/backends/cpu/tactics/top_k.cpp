#include <algorithm>
#include <bit>
#include <limits>

#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "ops/core/index.hpp"

// TopK of float32, by which detectors select their candidates. An element and its index become one 64-bit integer,
// which sorts in the order that TopK wants: comparing them needs no further memory access. Bound: bytes read /
// bandwidth.
namespace saccade::cpu {
namespace {

/// Ascends with VALUE. NaN is above all numbers, and the zeros are equal.
std::uint32_t ascending(float value) {
  if (value != value) return 0xFFFF'FFFF;
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  return (bits & 0x8000'0000) != 0 ? ~bits : bits | 0x8000'0000;
}

struct Selection {
  Lines lines;
  std::int64_t k = 0;
  bool largest = true;
};

class BoundTopK : public BoundLaunch {
 public:
  BoundTopK(const Selection& selection, const Bindings& bindings)
      : selection_(selection),
        src_(static_cast<const float*>(bindings.inputs[0].data)),
        values_(static_cast<float*>(bindings.outputs[0].data)),
        places_(bindings.outputs.size() > 1 ? static_cast<std::int64_t*>(bindings.outputs[1].data) : nullptr),
        rows_(selection.lines.outer * selection.lines.inner),
        keys_(static_cast<std::size_t>(rows_ * selection.lines.count)) {}

  void run() override {
    parallel_for(rows_, kParallelGrain / (4 * selection_.lines.count) + 1, [this](auto begin, auto end) {
      for (std::int64_t row = begin; row < end; ++row) select(row);
    });
  }

 private:
  void select(std::int64_t row) {
    const auto [outer, count, inner] = selection_.lines;
    const std::int64_t k = selection_.k;
    const float* const src = src_ + row / inner * count * inner + row % inner;
    const std::int64_t to = row / inner * k * inner + row % inner;
    std::uint64_t* const keys = keys_.data() + row * count;
    const std::uint32_t turned = selection_.largest ? 0xFFFF'FFFF : 0;
    for (std::int64_t i = 0; i < count; ++i)
      keys[i] = std::uint64_t{ascending(src[i * inner]) ^ turned} << 32U | static_cast<std::uint32_t>(i);
    std::partial_sort(keys, keys + k, keys + count);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto place = static_cast<std::int64_t>(keys[i] & 0xFFFF'FFFF);
      if (values_ != nullptr) values_[to + i * inner] = src[place * inner];
      if (places_ != nullptr) places_[to + i * inner] = place;
    }
  }

  Selection selection_;
  const float* src_;
  float* values_;
  std::int64_t* places_;
  std::int64_t rows_;
  std::vector<std::uint64_t> keys_;
};

class TopKLaunch : public Launch {
 public:
  explicit TopKLaunch(const Selection& selection) : selection_(selection) {}
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundTopK>(selection_, bindings);
  }

 private:
  Selection selection_;
};

class TopK : public Tactic {
 public:
  std::string_view name() const override { return "vector.top_k"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("TopK")) return Support::other_operator("not a TopK");
    const TensorType& type = context.input(0).type;
    if (type.dtype != DType::kFloat32) return Support::no("only float32 has a kernel");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    const Tensor* k = context.constant(1);
    if (k == nullptr || k->dtype() != DType::kInt64) return Support::no("its k is not constant");
    if (type.shape.elements() == 0) return Support::no("its input is empty");
    if (type.shape.elements() > std::numeric_limits<std::uint32_t>::max()) return Support::no("its input is too large");
    if (!is_row_major(context.input(0))) return Support::no("its input is channels-last");
    for (const ValueId id : context.node.outputs)
      if (id != ValueId::kNone && !is_row_major(context.graph.value(id)))
        return Support::no("its output is channels-last");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const TensorView src = view_of(context.input(0));
    std::vector<bool> axes(static_cast<std::size_t>(src.shape.rank()), false);
    axes[static_cast<std::size_t>(axis_of(context.node.attributes, src.shape, -1))] = true;
    return std::make_unique<TopKLaunch>(Selection{.lines = lines_along(src, axes).value(),
                                                  .k = context.constant(1)->data<std::int64_t>()[0],
                                                  .largest = context.node.attributes.integer("largest", 1) != 0});
  }
};

}  // namespace

const Tactic& vector_top_k() {
  static const TopK tactic;
  return tactic;
}

}  // namespace saccade::cpu
