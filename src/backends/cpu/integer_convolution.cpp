#include <algorithm>

#include "cpu/byte_weights.hpp"
#include "cpu/onednn.hpp"
#include "cpu/onednn_window.hpp"
#include "cpu/parallel.hpp"
#include "cpu/tactics.hpp"

// ConvInteger by oneDNN, whose zero point of the image is known to the run alone. oneDNN takes sums through float32
// even where it leaves them as int32, and weights in int8 alone: filters that are too much for either become several,
// whose sums are added up. The answers are the reference's exactly.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::convolution_forward::primitive_desc;

enum : int { kSrc, kWeights, kSrcZero, kWeightsZero };

/// Beyond these the library's products are mostly of zeros.
constexpr std::int64_t kMostParts = 16;

FilterParts filters_of(const NodeContext& context) {
  return split_filters(centered_weights(context, kWeights, kWeightsZero), context.input(kWeights).type.shape);
}

/// The output with PARTS channels for each of its own.
Shape sums_shape(const NodeContext& context, std::int64_t parts) {
  Shape shape = context.output().type.shape;
  shape[1] *= parts;
  return shape;
}

Shape packed_shape(const NodeContext& context, const FilterParts& filters) {
  return grouped(filters.filters.shape(), context.node.attributes.integer("group", 1));
}

Descriptor descriptor(const NodeContext& context, const FilterParts& filters) {
  const Attributes& node = context.node.attributes;
  const OnednnWindow window(
      slide(node, context.input(kSrc).type.shape, kernel_of(node, context.input(kWeights).type.shape)));
  const memory::desc packed(onednn_dims(packed_shape(context, filters)), memory::data_type::s8,
                            memory::format_tag::any);
  const dnnl::convolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, describe(context.input(kSrc)), packed,
      memory::desc(), describe(DType::kInt32, sums_shape(context, filters.parts), context.output().layout),
      window.strides, window.gaps, window.begin, window.end);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (context.has(kSrcZero)) attributes.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
  return {operation, attributes, onednn_engine()};
}

/// Adds up the parts of every channel, which are neighbours; INNER elements of a channel are.
void add_up(const std::uint32_t* sums, std::int64_t parts, std::int64_t inner, std::uint32_t* output,
            std::int64_t elements) {
  parallel_for(elements / inner, kParallelGrain / inner + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::uint32_t* to = output + i * inner;
      std::copy_n(sums + i * parts * inner, inner, to);
      for (std::int64_t part = 1; part < parts; ++part) {
        const std::uint32_t* from = sums + (i * parts + part) * inner;
        for (std::int64_t j = 0; j < inner; ++j) to[j] += from[j];
      }
    }
  });
}

class BoundIntegers : public BoundLaunch {
 public:
  /// ZERO and SUMS: where the zero point is put as int32, and where the convolution leaves its sums.
  BoundIntegers(std::unique_ptr<BoundLaunch> convolution, const Bindings& bindings, std::int32_t* zero,
                std::uint32_t* sums, std::int64_t parts)
      : convolution_(std::move(convolution)),
        output_(bindings.outputs[0]),
        wide_zero_(zero),
        sums_(sums),
        parts_(parts) {
    if (bindings.inputs.size() > kSrcZero) zero_ = bindings.inputs[kSrcZero];
    const Shape& shape = output_.shape;
    const bool channels_last = output_.layout == Layout::kChannelsLast && shape.rank() >= 3;
    for (int i = 2; i < shape.rank() && !channels_last; ++i) inner_ *= shape[i];
  }

  void run() override {
    if (zero_.data != nullptr)
      *wide_zero_ = zero_.dtype == DType::kUInt8 ? *static_cast<const std::uint8_t*>(zero_.data)
                                                 : *static_cast<const std::int8_t*>(zero_.data);
    convolution_->run();
    if (parts_ > 1) add_up(sums_, parts_, inner_, static_cast<std::uint32_t*>(output_.data), output_.elements());
  }

 private:
  std::unique_ptr<BoundLaunch> convolution_;
  TensorView zero_;
  TensorView output_;
  std::int32_t* wide_zero_;
  std::uint32_t* sums_;
  std::int64_t parts_;
  std::int64_t inner_ = 1;
};

/// A convolution of the image (input 0) with a zero point in int32 (input 1).
class IntegerLaunch : public Launch {
 public:
  IntegerLaunch(std::unique_ptr<Launch> convolution, const Shape& sums, std::int64_t parts)
      : convolution_(std::move(convolution)), sums_shape_(sums), parts_(parts) {
    if (parts > 1) sums_bytes_ = (bytes_of(DType::kInt32, sums) + kLine - 1) / kLine * kLine;
  }

  std::size_t scratch_bytes() const override { return kLine + sums_bytes_ + convolution_->scratch_bytes(); }
  std::string detail() const override { return convolution_->detail(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    const TensorView inputs[] = {bindings.inputs[0], {bindings.scratch, DType::kInt32, Layout::kRowMajor, {}}};
    TensorView sums = bindings.outputs[0];
    if (parts_ > 1) sums = {bindings.scratch + kLine, DType::kInt32, sums.layout, sums_shape_};
    auto convolution = convolution_->bind(
        {.inputs = inputs, .outputs = {&sums, 1}, .scratch = bindings.scratch + kLine + sums_bytes_});
    return std::make_unique<BoundIntegers>(std::move(convolution), bindings,
                                           reinterpret_cast<std::int32_t*>(bindings.scratch),
                                           static_cast<std::uint32_t*>(sums.data), parts_);
  }

 private:
  static constexpr std::size_t kLine = 64;
  std::unique_ptr<Launch> convolution_;
  Shape sums_shape_;
  std::int64_t parts_;
  std::size_t sums_bytes_ = 0;
};

Support check(const NodeContext& context) {
  if (!context.node.is("ConvInteger")) return Support::other_operator("not a ConvInteger");
  if (Support bytes = adds_bytes_exactly(); !bytes) return bytes;
  if (!context.node.post_ops.empty()) return Support::no("post-ops run on float32 only");
  if (context.constant(kWeights) == nullptr) return Support::no("its weights are not constant");
  if (context.has(kWeightsZero) && context.constant(kWeightsZero) == nullptr)
    return Support::no("its weights' zero points are not constant");
  if (context.output().type.shape.elements() == 0 || context.constant(kWeights)->elements() == 0)
    return Support::no("a tensor is empty");
  return {};
}

class IntegerConvolution : public Tactic {
 public:
  std::string_view name() const override { return "onednn.integer_convolution"; }

  Support supports(const NodeContext& context) const override {
    if (Support checked = check(context); !checked) return checked;
    const FilterParts filters = filters_of(context);
    if (filters.parts > kMostParts) return Support::no("its sums need too many parts that float32 has room for");
    return onednn_supports(context, [&] { descriptor(context, filters); });
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&] {
      const FilterParts filters = filters_of(context);
      const Descriptor chosen = descriptor(context, filters);
      std::vector<TensorArgument> tensors{{DNNL_ARG_SRC, false, 0, chosen.src_desc()},
                                          {DNNL_ARG_DST, true, 0, chosen.dst_desc()}};
      if (context.has(kSrcZero))
        tensors.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, false, 1, describe(DType::kInt32, {}, {})});
      std::vector<PackedArgument> packed;
      packed.push_back(pack(context, DNNL_ARG_WEIGHTS, filters.filters,
                            describe(DType::kInt8, packed_shape(context, filters), Layout::kRowMajor),
                            chosen.weights_desc()));
      auto convolution = onednn_launch<dnnl::convolution_forward>(chosen, std::move(tensors), std::move(packed));
      return std::make_unique<IntegerLaunch>(std::move(convolution), sums_shape(context, filters.parts), filters.parts);
    });
  }
};

}  // namespace

const Tactic& onednn_integer_convolution() {
  static const IntegerConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
