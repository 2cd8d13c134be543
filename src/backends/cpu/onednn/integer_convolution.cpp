#include <algorithm>
#include <array>
#include <utility>

#include "cpu/onednn/byte_product.hpp"
#include "cpu/onednn/byte_weights.hpp"
#include "cpu/onednn/onednn.hpp"
#include "cpu/onednn/onednn_window.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// ConvInteger with oneDNN, and QLinearConv with zero points or scales that are only known at run time. oneDNN converts
// sums to float32 even if the output is int32, and supports int8 weights only. Filters that exceed either are split
// into several, whose sums are added. The result equals the reference exactly.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::convolution_forward::primitive_desc;

/// With more parts most of the work would be on zeros.
constexpr std::int64_t kMostParts = 16;

FilterParts filters_of(const NodeContext& context) {
  const ByteProductInputs places = byte_product_inputs(context.node);
  return split_filters(centered_weights(context, places.right, places.right_zero),
                       context.input(places.right).type.shape);
}

/// The output with PARTS times the channels.
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
  const ByteProductInputs places = byte_product_inputs(context.node);
  const OnednnWindow window(
      slide(node, context.input(0).type.shape, kernel_of(node, context.input(places.right).type.shape)));
  const memory::desc packed(onednn_dims(packed_shape(context, filters)), memory::data_type::s8,
                            memory::format_tag::any);
  const dnnl::convolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, describe(context.input(0)), packed,
      memory::desc(), describe(DType::kInt32, sums_shape(context, filters.parts), context.output().layout),
      window.strides, window.gaps, window.begin, window.end);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (context.has(places.left_zero)) attributes.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
  return {operation, attributes, onednn_engine()};
}

/// Offsets of our buffers in the scratch memory, in bytes.
struct Scratch {
  Scratch(const ByteProductInputs& places, const Shape& sums_shape, std::int64_t parts, std::int64_t filters) {
    const auto take = [&](std::size_t bytes) { return std::exchange(end, end + (bytes + 63) / 64 * 64); };
    zero = take(sizeof(std::int32_t));
    if (places.requantizes()) factors = take(static_cast<std::size_t>(filters) * sizeof(float));
    if (places.requantizes() || parts > 1) sums = take(bytes_of(DType::kInt32, sums_shape));
  }

  std::size_t end = 0;
  std::size_t zero = 0;
  std::size_t factors = 0;
  std::size_t sums = 0;
};

/// A convolution, then its sums row by row. A row is the channels of a pixel if channels-last, else the pixels of a
/// channel.
class BoundIntegers : public BoundLaunch {
 public:
  /// SUMS: the output of the convolution, PARTS per output channel.
  BoundIntegers(std::unique_ptr<BoundLaunch> convolution, const Bindings& bindings, const ByteProductInputs& places,
                const Scratch& scratch, const void* sums, std::int64_t parts)
      : convolution_(std::move(convolution)),
        bytes_(places, bindings),
        zero_(reinterpret_cast<std::int32_t*>(bindings.scratch + scratch.zero)),
        factors_(reinterpret_cast<float*>(bindings.scratch + scratch.factors)),
        sums_(static_cast<const std::uint32_t*>(sums)),
        parts_(parts),
        channels_(output().shape[1]),
        channels_last_(output().layout == Layout::kChannelsLast && output().shape.rank() >= 3),
        width_(channels_) {
    if (!channels_last_) width_ = output().elements() / (output().shape[0] * channels_);
  }

  void run() override {
    *zero_ = bytes_.zero_point(bytes_.places().left_zero);
    convolution_->run();
    const bool requantizes = bytes_.places().requantizes();
    if (parts_ == 1 && !requantizes) return;
    if (requantizes) bytes_.read_scales(factors_, channels_);
    parallel_for(output().elements() / width_, kParallelGrain / width_ + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t first = 0; first < width_; first += kChunk)
          finish(row, first, std::min(kChunk, width_ - first));
    });
  }

 private:
  static constexpr std::int64_t kChunk = 256;

  const TensorView& output() const { return bytes_.output(); }

  /// COUNT elements of a row from FIRST on.
  void finish(std::int64_t row, std::int64_t first, std::int64_t count) const {
    std::array<std::uint32_t, kChunk> sums{};
    for (std::int64_t part = 0; part < parts_; ++part) {
      const std::uint32_t* from =
          sums_ + (channels_last_ ? (row * width_ + first) * parts_ + part : (row * parts_ + part) * width_ + first);
      const std::int64_t step = channels_last_ ? parts_ : 1;
      for (std::int64_t i = 0; i < count; ++i) sums[static_cast<std::size_t>(i)] += from[i * step];
    }
    const std::int64_t at = row * width_ + first;
    if (bytes_.places().requantizes()) return requantize(sums, channels_last_ ? first : row % channels_, count, at);
    std::copy_n(sums.data(), count, static_cast<std::uint32_t*>(output().data) + at);
  }

  /// SUMS of CHANNEL and, if a row is channels, the following ones.
  void requantize(std::array<std::uint32_t, kChunk>& sums, std::int64_t channel, std::int64_t count,
                  std::int64_t at) const {
    const std::int64_t step = channels_last_ ? 1 : 0;
    if (const int i = bytes_.places().bias; bytes_.has(i)) {
      const auto* bias = static_cast<const std::uint32_t*>(bytes_.input(i).data) + channel;
      for (std::int64_t k = 0; k < count; ++k) sums[static_cast<std::size_t>(k)] += bias[k * step];
    }
    std::array<float, kChunk> same{};
    const float* factors = factors_ + channel;
    if (!channels_last_) {
      std::fill_n(same.begin(), count, *factors);
      factors = same.data();
    }
    bytes_.store(sums.data(), factors, at, count);
  }

  std::unique_ptr<BoundLaunch> convolution_;
  BoundByteProduct bytes_;
  std::int32_t* zero_;
  float* factors_;
  const std::uint32_t* sums_;
  std::int64_t parts_;
  std::int64_t channels_;
  bool channels_last_;
  std::int64_t width_;  // of a row
};

/// A convolution of the image (input 0) with a zero point in int32 (input 1).
class IntegerLaunch : public Launch {
 public:
  IntegerLaunch(std::unique_ptr<Launch> convolution, const ByteProductInputs& places, const Shape& sums,
                std::int64_t parts)
      : convolution_(std::move(convolution)),
        places_(places),
        sums_shape_(sums),
        parts_(parts),
        scratch_(places, sums, parts, sums[1] / parts) {}

  std::size_t scratch_bytes() const override { return scratch_.end + convolution_->scratch_bytes(); }
  std::string detail() const override { return convolution_->detail(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    const TensorView inputs[] = {bindings.inputs[0],
                                 {bindings.scratch + scratch_.zero, DType::kInt32, Layout::kRowMajor, {}}};
    TensorView sums = bindings.outputs[0];
    if (parts_ > 1 || places_.requantizes())
      sums = {bindings.scratch + scratch_.sums, DType::kInt32, sums.layout, sums_shape_};
    auto convolution =
        convolution_->bind({.inputs = inputs, .outputs = {&sums, 1}, .scratch = bindings.scratch + scratch_.end});
    return std::make_unique<BoundIntegers>(std::move(convolution), bindings, places_, scratch_, sums.data, parts_);
  }

 private:
  std::unique_ptr<Launch> convolution_;
  ByteProductInputs places_;
  Shape sums_shape_;
  std::int64_t parts_;
  Scratch scratch_;
};

Support check(const NodeContext& context) {
  if (!context.node.is("ConvInteger") && !context.node.is("QLinearConv"))
    return Support::other_operator("not a convolution of bytes");
  if (Support bytes = supports_byte_product(context); !bytes) return bytes;
  const ByteProductInputs places = byte_product_inputs(context.node);
  if (context.constant(places.right) == nullptr) return Support::no("its weights are not constant");
  if (context.has(places.right_zero) && context.constant(places.right_zero) == nullptr)
    return Support::no("its weights' zero points are not constant");
  return {};
}

class IntegerConvolution : public Tactic {
 public:
  std::string_view name() const override { return "onednn.integer_convolution"; }

  Support supports(const NodeContext& context) const override {
    if (Support checked = check(context); !checked) return checked;
    const FilterParts filters = filters_of(context);
    if (filters.parts > kMostParts) return Support::no("its accumulators need too many float32 partial sums");
    return onednn_supports(context, [&] { descriptor(context, filters); });
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&] {
      const FilterParts filters = filters_of(context);
      const Descriptor chosen = descriptor(context, filters);
      std::vector<TensorArgument> tensors{{DNNL_ARG_SRC, false, 0, chosen.src_desc()},
                                          {DNNL_ARG_DST, true, 0, chosen.dst_desc()}};
      const ByteProductInputs places = byte_product_inputs(context.node);
      if (context.has(places.left_zero))
        tensors.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, false, 1, describe(DType::kInt32, {}, {})});
      std::vector<PackedArgument> packed;
      packed.push_back(pack(context, DNNL_ARG_WEIGHTS, filters.filters,
                            describe(DType::kInt8, packed_shape(context, filters), Layout::kRowMajor),
                            chosen.weights_desc()));
      auto convolution = onednn_launch<dnnl::convolution_forward>(chosen, std::move(tensors), std::move(packed));
      return std::make_unique<IntegerLaunch>(std::move(convolution), places, sums_shape(context, filters.parts),
                                             filters.parts);
    });
  }
};

}  // namespace

const Tactic& onednn_integer_convolution() {
  static const IntegerConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
