#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "base/integers.hpp"
#include "cpu/kernels/half_window_kernels.hpp"
#include "cpu/loops/inside_columns.hpp"
#include "cpu/loops/pixel_pitches.hpp"
#include "cpu/loops/row_operations.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/layers/window.hpp"
#include "tensor/half.hpp"

// Depthwise Conv and MaxPool on channels-last bfloat16 tensors, in float32 within a tile of pixels and channels.
// Nothing is unfolded: the kernel gets a pointer for each tap of all windows inside a line of the input, and for each
// tap of the others. A tap in the padding reads a row of its own.
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
        inside(inside_columns(of, taps[2])),
        outside(DType::kBFloat16, Shape{round_up(input[1], kColumns)}) {
    std::ranges::fill(outside.data<BFloat16>(), padding);
  }

  std::int64_t blocks() const { return ceil_div(channels, kColumns); }
  std::int64_t lines() const { return images * window.out[0] * window.out[1]; }
  /// Lists of taps of a line: of each window that reaches outside, and of the first inside.
  std::int64_t lists() const { return window.out[2] - std::max<std::int64_t>(inside.count() - 1, 0); }
  /// The list of the window of output column X.
  std::int64_t list_of(std::int64_t x) const {
    return x < inside.first ? x : std::max(inside.first, x - std::max<std::int64_t>(inside.count() - 1, 0));
  }
  std::size_t rank_bytes() const {
    const std::int64_t bytes = lists() * window.taps() * std::int64_t{sizeof(HalfTap)};
    return static_cast<std::size_t>(round_up(bytes, 64) + kRows * kColumns * std::int64_t{sizeof(float)});
  }

  Window window;
  std::array<Taps, Window::kAxes> taps;
  std::int64_t images;
  std::int64_t channels;
  PixelPitches pitches;
  InsideColumns inside;
  Tensor outside;                      ///< what taps in the padding read
  std::vector<float> weights{};        ///< by block, tap and channel; empty: maxima, or pairs
  std::vector<std::uint16_t> pairs{};  ///< by block, in the order of half_pair_index(); empty: maxima, or weights
  std::vector<float> initial{};        ///< by block and channel
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
      auto* taps = reinterpret_cast<HalfTap*>(sums + kRows * kColumns);
      for (std::int64_t line = begin; line < end; ++line) run_line(line, taps, sums);
    });
  }

 private:
  void run_line(std::int64_t line, HalfTap* taps, float* sums) const {
    const std::int64_t planes = w_.window.out[0] * w_.window.out[1];
    point(line / planes, line % planes, taps);
    const bool is_readable = reads_before_end(line / planes, line % planes);
    for (std::int64_t x = 0; x < w_.window.out[2]; x += kRows) {
      const std::int64_t pixels = std::min(kRows, w_.window.out[2] - x);
      for (std::int64_t block = 0; block < w_.blocks(); ++block)
        run_tile(line, x, pixels, block, is_readable || (block + 1) * kColumns <= w_.channels, taps, sums);
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

  /// PIXELS of LINE from column X on. WHOLE: HalfWindows::whole.
  void run_tile(std::int64_t line, std::int64_t x, std::int64_t pixels, std::int64_t block, bool whole,
                const HalfTap* taps, float* sums) const {
    const std::int64_t first = block * kColumns;
    const std::int64_t channels = std::min(kColumns, w_.channels - first);
    const bool is_sum = !w_.initial.empty();
    HalfWindows windows{.taps = nullptr,
                        .tap_count = static_cast<std::size_t>(w_.window.taps()),
                        .start = 0,
                        .windows = 0,
                        .first = static_cast<std::size_t>(first),
                        .channels = static_cast<std::size_t>(channels),
                        .whole = whole,
                        .weights = w_.weights.empty() ? nullptr : w_.weights.data() + first * w_.window.taps(),
                        .pairs = w_.pairs.empty() ? nullptr : w_.pairs.data() + first * round_up(w_.window.taps(), 2),
                        .initial = is_sum ? w_.initial.data() + first : nullptr,
                        .out = sums};
    const std::int64_t end = x + pixels;
    for (std::int64_t at = x; at < end;) {
      const bool is_inside = w_.inside.contain(at);
      const std::int64_t count = is_inside ? std::min(end, w_.inside.last) - at : 1;
      windows.taps = taps + w_.list_of(is_inside ? w_.inside.first : at) * w_.window.taps();
      windows.start = static_cast<std::size_t>(is_inside ? at - w_.inside.first : 0);
      windows.windows = static_cast<std::size_t>(count);
      is_sum ? kernels_.sum(windows) : kernels_.max(windows);
      windows.out += count * kColumns;
      at += count;
    }
    w_.operations.finish_tile(sums, line * w_.window.out[2] + x, pixels, first, channels, w_.pitches.out,
                              inputs_.data(), output_);
  }

  /// The lists of taps of a line.
  void point(std::int64_t image, std::int64_t line, HalfTap* taps) const {
    for (std::int64_t x = 0; x < w_.window.out[2]; x += w_.inside.contain(x) ? w_.inside.count() : 1) {
      point_window(image, line, x, taps);
      if (w_.initial.empty()) repeat_pixels(taps);
      taps += w_.window.taps();
    }
  }

  /// Where the taps of the window of output column X read, and the next windows'.
  void point_window(std::int64_t image, std::int64_t line, std::int64_t x, HalfTap* taps) const {
    const Window& window = w_.window;
    const auto* input = static_cast<const std::uint16_t*>(inputs_[0].data) + image * window.inputs() * w_.pitches.in;
    for (std::int64_t a = 0; a < window.kernel[0]; ++a)
      for (std::int64_t b = 0; b < window.kernel[1]; ++b) {
        const std::int64_t z = w_.taps[0].of(a)[line / window.out[1]];
        const std::int64_t y = w_.taps[1].of(b)[line % window.out[1]];
        const std::int64_t before = (z * window.in[1] + y) * window.in[2];
        for (std::int64_t c = 0; c < window.kernel[2]; ++c, ++taps) {
          const std::int64_t column = w_.taps[2].of(c)[x];
          if (z < 0 || y < 0 || column < 0)
            *taps = {outside(), 0};
          else
            *taps = {input + (before + column) * w_.pitches.in,
                     static_cast<std::size_t>(window.stride[2] * w_.pitches.in)};
        }
      }
  }

  /// The padding is no candidate of a maximum: its taps read another pixel of the window instead, if there is one.
  void repeat_pixels(HalfTap* taps) const {
    HalfTap* end = taps + w_.window.taps();
    const auto is_inside = [&](const HalfTap& tap) { return tap.pixel != outside(); };
    const HalfTap* inside = std::find_if(taps, end, is_inside);
    if (inside != end) std::replace_if(taps, end, std::not_fn(is_inside), HalfTap(*inside));
  }

  const std::uint16_t* outside() const {
    return reinterpret_cast<const std::uint16_t*>(w_.outside.data<BFloat16>().data());
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
    const auto padded = static_cast<std::size_t>(windows.blocks() * kColumns);
    windows.initial.assign(padded, 0);
    pack(context.constant(1)->data<BFloat16>(), windows);
    if (context.has(2)) std::ranges::copy(context.constant(2)->data<BFloat16>(), windows.initial.begin());
    return std::make_unique<WindowsLaunch>(std::move(windows), context.threads);
  }

 private:
  /// FILTERS in the order that the kernels read.
  static void pack(std::span<const BFloat16> filters, Windows& windows) {
    const std::int64_t taps = windows.window.taps();
    const bool in_pairs = half_window_kernels().takes_pairs;
    const std::int64_t block_weights = (in_pairs ? round_up(taps, 2) : taps) * kColumns;
    const auto count = static_cast<std::size_t>(windows.blocks() * block_weights);
    in_pairs ? windows.pairs.assign(count, 0) : windows.weights.assign(count, 0);
    for (std::int64_t channel = 0; channel < windows.channels; ++channel)
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const BFloat16 weight = filters[static_cast<std::size_t>(channel * taps + tap)];
        const auto block = static_cast<std::size_t>(channel / kColumns * block_weights);
        const auto column = static_cast<std::size_t>(channel % kColumns);
        const auto row = static_cast<std::size_t>(tap);
        if (in_pairs)
          windows.pairs[block + half_pair_index(row, column)] = weight.bits;
        else
          windows.weights[block + row * static_cast<std::size_t>(kColumns) + column] = weight;
      }
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
