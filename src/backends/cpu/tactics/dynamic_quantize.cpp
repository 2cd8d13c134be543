#include <array>

#include "cpu/kernels/integer_kernels.hpp"
#include "cpu/kernels/sample_kernels.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/quantization/quantization.hpp"

// DynamicQuantizeLinear: the range of the elements, then their quantisation. Bound: twice the bytes read / bandwidth;
// once if they stay in the cache.
namespace saccade::cpu {
namespace {

struct Range {
  float lowest = 0;
  float highest = 0;
};

/// Elements of one unit of the range computation.
constexpr std::int64_t kPart = kParallelGrain;

std::int64_t parts_of(std::int64_t elements) { return (elements + kPart - 1) / kPart; }

class BoundQuantizer : public BoundLaunch {
 public:
  explicit BoundQuantizer(const Bindings& bindings)
      : input_(bindings.inputs[0]),
        outputs_(bindings.outputs.begin(), bindings.outputs.end()),
        parts_(reinterpret_cast<Range*>(bindings.scratch)) {}

  void run() override {
    const Range range = find_range();
    const auto [scale, zero_point] = dynamic_quantization(range.lowest, range.highest);
    if (wants(1)) *static_cast<float*>(outputs_[1].data) = scale;
    if (wants(2)) *static_cast<std::uint8_t*>(outputs_[2].data) = zero_point;
    if (!wants(0)) return;
    const auto* src = static_cast<const float*>(input_.data);
    auto* dst = static_cast<std::uint8_t*>(outputs_[0].data);
    const auto zero = static_cast<float>(zero_point);
    parallel_for(input_.elements(), kParallelGrain, [&, scale = scale](std::int64_t begin, std::int64_t end) {
      sample_kernels().quantize_u8(src + begin, scale, zero, dst + begin, static_cast<std::size_t>(end - begin));
    });
  }

 private:
  bool wants(std::size_t i) const { return i < outputs_.size() && outputs_[i].data != nullptr; }

  Range find_range() {
    const std::int64_t elements = input_.elements();
    const auto* src = static_cast<const float*>(input_.data);
    const std::int64_t parts = parts_of(elements);
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        parts_[i] = {};
        const auto count = static_cast<std::size_t>(std::min(kPart, elements - i * kPart));
        integer_kernels().range(src + i * kPart, count, parts_[i].lowest, parts_[i].highest);
      }
    });
    Range all;
    for (std::int64_t i = 0; i < parts; ++i)
      all = {std::min(all.lowest, parts_[i].lowest), std::max(all.highest, parts_[i].highest)};
    return all;
  }

  TensorView input_;
  std::vector<TensorView> outputs_;
  Range* parts_;
};

class QuantizerLaunch : public Launch {
 public:
  explicit QuantizerLaunch(std::int64_t elements) : parts_(parts_of(elements)) {}
  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(parts_) * sizeof(Range); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundQuantizer>(bindings);
  }

 private:
  std::int64_t parts_;
};

class DynamicQuantize : public Tactic {
 public:
  std::string_view name() const override { return "vector.dynamic_quantize"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("DynamicQuantizeLinear")) return Support::other_operator("it does not choose a scale");
    const Value& src = context.input(0);
    if (src.layout != context.output().layout && src.type.shape.rank() >= 3)
      return Support::no("its input and output have different layouts");
    if (!context.node.post_ops.empty()) return Support::no("post-ops run on float32 only");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return std::make_unique<QuantizerLaunch>(context.input(0).type.shape.elements());
  }
};

}  // namespace

const Tactic& vector_dynamic_quantize() {
  static const DynamicQuantize tactic;
  return tactic;
}

}  // namespace saccade::cpu
