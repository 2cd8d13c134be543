#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/integers.hpp"
#include "cpu/kernels/half_window_kernels.hpp"
#include "cpu/loops/pixel_pitches.hpp"
#include "cpu/loops/row_operations.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/layers/window.hpp"
#include "tensor/half.hpp"

// Depthwise Conv and MaxPool on channels-last bfloat16 tensors, in float32 within a tile of pixels and channels.
// Nothing is unfolded: the kernel gets a pointer for each pixel and tap, and a tap in the padding reads a row of its
// own.
//
// Bound: bytes read and written / bandwidth.
namespace saccade::cpu {
namespace {

constexpr auto kColumns = static_cast<std::int64_t>(HalfWindows::kColumns);
constexpr auto kRows = static_cast<std::int64_t>(RowOperations::kTileRows);
static_assert(HalfWindows::kColumns == RowOperations::kTileColumns);
constexpr int kChannels = 1;  // the dimension
constexpr BFloat16 kLowest = BFloat16::from_bits(0xFF7F);

/// What all executions of a node share.
struct Windows {
  Windows(const Window& of, const Shape& input, const PixelPitches& spaced, BFloat16 padding)
      : window(of),
        taps(taps_of(of)),
        images(input[0]),
        channels(input[1]),
        pitches(spaced),
        outside(DType::kBFloat16, Shape{input[1]}) {
    std::ranges::fill(outside.data<BFloat16>(), padding);
  }

  std::int64_t blocks() const { return ceil_div(channels, kColumns); }
  std::int64_t lines() const { return images * window.out[0] * window.out[1]; }
  std::size_t pointers() const { return static_cast<std::size_t>(window.out[2] * window.taps()); }
  std::size_t rank_bytes() const {
    const auto bytes = static_cast<std::int64_t>(pointers() * sizeof(const std::uint16_t*));
    return static_cast<std::size_t>(round_up(bytes, 64) + kRows * kColumns * std::int64_t{sizeof(float)});
  }

  Window window;
  std::array<Taps, Window::kAxes> taps;
  std::int64_t images;
  std::int64_t channels;
  PixelPitches pitches;
  Tensor outside;                ///< what taps in the padding read
  std::vector<float> weights{};  ///< by block, tap and channel; empty: maxima
  std::vector<float> initial{};  ///< by block and channel
  RowOperations operations{};
};

class BoundWindows : public BoundLaunch {
 public:
  BoundWindows(const Windows& windows, const Bindings& bindings)
      : w_(windows),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        output_(static_cast<std::uint16_t*>(bindings.outputs[0].data)),
        ranks_(bindings.scratch) {}

  void run() override {
    const std::int64_t cost = w_.window.out[2] * w_.window.taps() * w_.channels;
    parallel_for(w_.lines(), kParallelGrain / cost + 1, [this](std::int64_t begin, std::int64_t end) {
      std::byte* own = ranks_ + static_cast<std::size_t>(current_rank().rank) * w_.rank_bytes();
      auto* sums = reinterpret_cast<float*>(own);
      auto** pointers = reinterpret_cast<const std::uint16_t**>(sums + kRows * kColumns);
      for (std::int64_t line = begin; line < end; ++line) run_line(line, pointers, sums);
    });
  }

 private:
  void run_line(std::int64_t line, const std::uint16_t** pointers, float* sums) const {
    const std::int64_t planes = w_.window.out[0] * w_.window.out[1];
    point(line / planes, line % planes, pointers);
    const bool is_readable = reads_before_end(line / planes, line % planes);
    for (std::int64_t x = 0; x < w_.window.out[2]; x += kRows) {
      const std::int64_t pixels = std::min(kRows, w_.window.out[2] - x);
      for (std::int64_t block = 0; block < w_.blocks(); ++block)
        run_tile(line * w_.window.out[2] + x, pixels, block, is_readable || (block + 1) * kColumns <= w_.channels,
                 pointers + x * w_.window.taps(), sums);
    }
  }

  /// Whether a vector past the channels of any pixel that a line's windows read is inside the input.
  bool reads_before_end(std::int64_t image, std::int64_t line) const {
    const Window& window = w_.window;
    std::int64_t last = 0;
    for (std::int64_t a = 0; a < window.kernel[0]; ++a)
      for (std::int64_t b = 0; b < window.kernel[1]; ++b)
        last = std::max(last,
                        w_.taps[0].of(a)[line / window.out[1]] * window.in[1] + w_.taps[1].of(b)[line % window.out[1]]);
    const std::int64_t pixels = image * window.inputs() + (last + 1) * window.in[2];
    const std::int64_t end = (w_.images * window.inputs() - 1) * w_.pitches.in + w_.channels;
    return pixels * w_.pitches.in + kColumns <= end;
  }

  /// WHOLE: HalfWindows::whole.
  void run_tile(std::int64_t pixel, std::int64_t pixels, std::int64_t block, bool whole,
                const std::uint16_t* const* pointers, float* sums) const {
    const std::int64_t first = block * kColumns;
    const std::int64_t channels = std::min(kColumns, w_.channels - first);
    const bool has_weights = !w_.weights.empty();
    const HalfWindows tile{.taps = pointers,
                           .tap_count = static_cast<std::size_t>(w_.window.taps()),
                           .windows = static_cast<std::size_t>(pixels),
                           .first = static_cast<std::size_t>(first),
                           .channels = static_cast<std::size_t>(channels),
                           .whole = whole,
                           .weights = has_weights ? w_.weights.data() + first * w_.window.taps() : nullptr,
                           .initial = has_weights ? w_.initial.data() + first : nullptr,
                           .out = sums};
    has_weights ? kernels_.sum(tile) : kernels_.max(tile);
    w_.operations.finish_tile(sums, pixel, pixels, first, channels, w_.pitches.out, inputs_.data(), output_);
  }

  /// Where the taps of a line's pixels read.
  void point(std::int64_t image, std::int64_t line, const std::uint16_t** pointers) const {
    const Window& window = w_.window;
    const auto* input = static_cast<const std::uint16_t*>(inputs_[0].data) + image * window.inputs() * w_.pitches.in;
    const auto* outside = reinterpret_cast<const std::uint16_t*>(w_.outside.data<BFloat16>().data());
    std::int64_t tap = 0;
    for (std::int64_t a = 0; a < window.kernel[0]; ++a)
      for (std::int64_t b = 0; b < window.kernel[1]; ++b) {
        const std::int64_t z = w_.taps[0].of(a)[line / window.out[1]];
        const std::int64_t y = w_.taps[1].of(b)[line % window.out[1]];
        const std::int64_t before = (z * window.in[1] + y) * window.in[2];
        for (std::int64_t c = 0; c < window.kernel[2]; ++c, ++tap) {
          const std::int64_t* columns = w_.taps[2].of(c);
          for (std::int64_t x = 0; x < window.out[2]; ++x)
            pointers[x * window.taps() + tap] =
                z < 0 || y < 0 || columns[x] < 0 ? outside : input + (before + columns[x]) * w_.pitches.in;
        }
      }
    if (w_.weights.empty()) repeat_pixels(outside, pointers);
  }

  /// The padding is no candidate of a maximum: its taps read another pixel of the window instead, if there is one.
  void repeat_pixels(const std::uint16_t* outside, const std::uint16_t** pointers) const {
    for (std::int64_t x = 0; x < w_.window.out[2]; ++x, pointers += w_.window.taps()) {
      const std::uint16_t** end = pointers + w_.window.taps();
      const std::uint16_t** inside =
          std::find_if(pointers, end, [&](const std::uint16_t* pixel) { return pixel != outside; });
      if (inside != end) std::replace(pointers, end, outside, *inside);
    }
  }

  const HalfWindowKernels& kernels_ = half_window_kernels();
  const Windows& w_;
  std::vector<TensorView> inputs_;
  std::uint16_t* output_;
  std::byte* ranks_;
};

class WindowsLaunch : public Launch {
 public:
  WindowsLaunch(Windows windows, int threads) : windows_(std::move(windows)), threads_(std::max(threads, 1)) {}

  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(threads_) * windows_.rank_bytes(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundWindows>(windows_, bindings);
  }

 private:
  Windows windows_;
  int threads_;
};

/// Whether the images are channels-last bfloat16 tensors, with post-ops that have kernels.
Support supports_images(const NodeContext& context) {
  for (const Value* value : {&context.input(0), &context.output()}) {
    if (value->type.dtype != DType::kBFloat16) return Support::no("only bfloat16 tensors are supported");
    if (value->type.shape.elements() == 0) return Support::no("a tensor is empty");
    if (value->layout != Layout::kChannelsLast) return Support::no("its tensors are not channels-last");
  }
  std::string why;
  return RowOperations::of(context, kChannels, why) ? Support{} : Support::no(why);
}

Windows windows_of(const NodeContext& context, const std::vector<std::int64_t>& kernel, BFloat16 padding) {
  const Shape& input = context.input(0).type.shape;
  Windows windows(slide(context.node.attributes, input, kernel), input, pixel_pitches(context), padding);
  std::string why;
  windows.operations = RowOperations::of(context, kChannels, why).value();
  return windows;
}

class HalfDepthwise : public Tactic {
 public:
  std::string_view name() const override { return "bf16.depthwise"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return Support::other_operator("not a Conv");
    const Shape& weights = context.input(1).type.shape;
    if (weights[1] != 1 || weights[0] != context.node.attributes.integer("group", 1))
      return Support::no("it is not a depthwise convolution");
    for (int i = 1; i < 3; ++i)
      if (context.has(i) && (context.constant(i) == nullptr || context.input(i).type.dtype != DType::kBFloat16))
        return Support::no("the weights or the bias are not constant and bfloat16");
    return supports_images(context);
  }

  bool supports_strided_operands(const NodeContext& context) const override { return has_pixel_pitches(context); }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    Windows windows = windows_of(context, kernel_of(context.node.attributes, context.input(1).type.shape), BFloat16(0));
    const std::int64_t taps = windows.window.taps();
    const auto padded = static_cast<std::size_t>(windows.blocks() * kColumns);
    windows.weights.assign(padded * static_cast<std::size_t>(taps), 0);
    windows.initial.assign(padded, 0);
    const auto weights = context.constant(1)->data<BFloat16>();
    for (std::int64_t channel = 0; channel < windows.channels; ++channel)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        windows.weights[static_cast<std::size_t>((channel / kColumns * taps + tap) * kColumns + channel % kColumns)] =
            weights[static_cast<std::size_t>(channel * taps + tap)];
    if (context.has(2)) std::ranges::copy(context.constant(2)->data<BFloat16>(), windows.initial.begin());
    return std::make_unique<WindowsLaunch>(std::move(windows), context.threads);
  }
};

class HalfMaxPool : public Tactic {
 public:
  std::string_view name() const override { return "bf16.max_pool"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("MaxPool")) return Support::other_operator("not a MaxPool");
    if (context.node.outputs.size() > 1) return Support::no("its output Indices is used");
    return supports_images(context);
  }

  bool supports_strided_operands(const NodeContext& context) const override { return has_pixel_pitches(context); }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return std::make_unique<WindowsLaunch>(
        windows_of(context, context.node.attributes.integers("kernel_shape"), kLowest), context.threads);
  }
};

}  // namespace

const Tactic& bf16_depthwise() {
  static const HalfDepthwise tactic;
  return tactic;
}

const Tactic& bf16_max_pool() {
  static const HalfMaxPool tactic;
  return tactic;
}

}  // namespace saccade::cpu
