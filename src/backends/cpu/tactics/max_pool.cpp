#include <array>
#include <limits>

#include "cpu/kernels/pool_kernels.hpp"
#include "cpu/loops/inside_columns.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/loops/pixel_pitches.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/nan_watch.hpp"
#include "ops/layers/window.hpp"

// Float32 MaxPool in both layouts. oneDNN's loses NaN, and returns the lowest float for a window of -infinity.
// Channels-last: the maximum over a window's pixels, vectorised over channels; all windows inside a row are
// one kernel call. Row-major: first the maximum over the window's rows, then over each window's elements of that row.
namespace saccade::cpu {
namespace {

/// Taps per kernel call; more take further calls.
constexpr std::size_t kMaxTaps = 64;
/// Elements of an input row that are reduced together.
constexpr std::int64_t kSpan = 2048;

class MaxPool {
 public:
  /// PITCHES: of channels-last images.
  MaxPool(const Window& window, const TensorView& input, const PixelPitches& pitches)
      : window_(window),
        taps_(taps_of(window)),
        channels_last_(input.layout == Layout::kChannelsLast && input.shape.rank() >= 3),
        images_(input.shape[0]),
        channels_(input.shape[1]),
        pitches_(pitches),
        inside_(inside_columns(window, taps_[2])) {}

  void run(const float* src, float* dst) const {
    // An output row of one image (and channel).
    const std::int64_t rows = window_.out[0] * window_.out[1];
    const std::int64_t planes = channels_last_ ? images_ : images_ * channels_;
    const std::int64_t cost = window_.taps() * window_.out[2] * (channels_last_ ? channels_ : 1);
    parallel_for(planes * rows, kParallelGrain / cost + 1, [&](std::int64_t begin, std::int64_t end) {
      take_note();
      for (std::int64_t i = begin; i < end; ++i) {
        run_any(src, dst, i / rows, i % rows, pool_kernels().ignore_nan);
        // A row with a NaN, which is rare, is repeated with the kernel that keeps it.
        if (take_note()) run_any(src, dst, i / rows, i % rows, pool_kernels().keep_nan);
      }
    });
  }

 private:
  void run_any(const float* src, float* dst, std::int64_t plane, std::int64_t row, WindowMax window_max) const {
    channels_last_ ? run_pixels(src, dst, plane, row, window_max) : run_row(src, dst, plane, row, window_max);
  }

  /// Collects tap pointers for the kernel; with too many, the output holds the maximum so far.
  class Group {
   public:
    Group(WindowMax window_max, std::int64_t length, float* dst)
        : window_max_(window_max), length_(static_cast<std::size_t>(length)), dst_(dst) {}
    void add(const float* from) {
      if (count_ == kMaxTaps) {
        flush();
        from_[count_++] = dst_;
      }
      from_[count_++] = from;
    }
    /// Reduces this window and the following ones, STRIDE floats apart, and OUT_STRIDE in the output; several only with
    /// at most kMaxTaps taps. The lowest float without taps: a dilated window may lie in the padding completely.
    void flush(std::int64_t windows = 1, std::int64_t stride = 0, std::int64_t out_stride = 0) {
      if (count_ == 0)
        std::fill_n(dst_, length_, std::numeric_limits<float>::lowest());
      else
        window_max_({from_.data(), count_, length_, static_cast<std::size_t>(windows), static_cast<std::size_t>(stride),
                     static_cast<std::size_t>(out_stride)},
                    dst_);
      count_ = 0;
    }

   private:
    WindowMax window_max_;
    std::size_t length_;
    float* dst_;
    std::size_t count_ = 0;
    std::array<const float*, kMaxTaps> from_;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  };

  /// Calls visit(input row) for the rows in the window of output row ROW.
  template <typename Visit>
  void for_each_row(std::int64_t row, const Visit& visit) const {
    for (std::int64_t i = 0; i < window_.kernel[0]; ++i) {
      const std::int64_t depth = taps_[0].of(i)[row / window_.out[1]];
      if (depth < 0) continue;
      for (std::int64_t j = 0; j < window_.kernel[1]; ++j)
        if (const std::int64_t height = taps_[1].of(j)[row % window_.out[1]]; height >= 0)
          visit(depth * window_.in[1] + height);
    }
  }

  void run_pixels(const float* src, float* dst, std::int64_t image, std::int64_t row, WindowMax window_max) const {
    const float* from = src + image * window_.inputs() * pitches_.in;
    float* to = dst + (image * window_.outputs() + row * window_.out[2]) * pitches_.out;
    for (std::int64_t x = 0; x < window_.out[2];) {
      const bool is_inside = inside_.contain(x);
      // Windows without a row in the input, or with too many taps, are processed one by one.
      std::int64_t taps = 0;
      Group group(window_max, channels_, to + x * pitches_.out);
      for_each_row(row, [&](std::int64_t line) {
        for (std::int64_t k = 0; k < window_.kernel[2]; ++k) {
          const std::int64_t width = taps_[2].of(k)[x];
          if (width < 0) continue;
          group.add(from + (line * window_.in[2] + width) * pitches_.in);
          ++taps;
        }
      });
      const bool together = is_inside && taps > 0 && taps <= static_cast<std::int64_t>(kMaxTaps);
      const std::int64_t windows = together ? inside_.last - x : 1;
      group.flush(windows, window_.stride[2] * pitches_.in, pitches_.out);
      x += windows;
    }
  }

  /// Processes as many outputs at a time as have their windows within a span of the input's rows.
  void run_row(const float* src, float* dst, std::int64_t plane, std::int64_t row, WindowMax window_max) const {
    const float* from = src + plane * window_.inputs();
    float* to = dst + plane * window_.outputs() + row * window_.out[2];
    const std::int64_t step = (kSpan - window_.extent(2)) / window_.stride[2] + 1;
    std::array<float, kSpan> span;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
    for (std::int64_t x = 0; x < window_.out[2]; x += step) {
      const std::int64_t last = std::min(x + step, window_.out[2]) - 1;
      const std::int64_t begin = std::max<std::int64_t>(x * window_.stride[2] - window_.pad_begin[2], 0);
      const std::int64_t end =
          std::min(last * window_.stride[2] - window_.pad_begin[2] + window_.extent(2), window_.in[2]);
      if (begin < end) {
        Group group(window_max, end - begin, span.data());
        for_each_row(row, [&](std::int64_t line) { group.add(from + line * window_.in[2] + begin); });
        group.flush();
      }
      for (std::int64_t out = x; out <= last; ++out) to[out] = max_of(span.data(), begin, out);
    }
  }

  /// The maximum of the window of output X in a row; SPAN holds the row from BEGIN on.
  float max_of(const float* span, std::int64_t begin, std::int64_t x) const {
    float best = std::numeric_limits<float>::lowest();
    bool any = false;
    for (std::int64_t k = 0; k < window_.kernel[2]; ++k) {
      const std::int64_t width = taps_[2].of(k)[x];
      if (width < 0) continue;
      const float value = span[width - begin];
      if (!any || value > best || value != value) best = value;
      any = true;
      if (value != value) break;
    }
    return best;
  }

  Window window_;
  std::array<Taps, Window::kAxes> taps_;
  bool channels_last_;
  std::int64_t images_;
  std::int64_t channels_;
  PixelPitches pitches_;
  InsideColumns inside_;
};

Window window_of(const NodeContext& context) {
  const Attributes& attributes = context.node.attributes;
  return slide(attributes, context.input(0).type.shape, attributes.integers("kernel_shape"));
}

class MaxPoolTactic : public Tactic {
 public:
  std::string_view name() const override { return "vector.max_pool"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("MaxPool")) return Support::other_operator("not a MaxPool");
    if (context.node.outputs.size() > 1) return Support::no("its output Indices is used");
    if (context.input(0).type.dtype != DType::kFloat32) return Support::no("only float32 has vector kernels");
    if (context.output().type.shape.elements() == 0) return Support::no("a tensor is empty");
    if (context.input(0).layout != context.output().layout)
      return Support::no("its input and output have different layouts");
    if (window_of(context).extent(2) > kSpan) return Support::no("its window is too wide");
    return supports_post_ops(context);
  }

  bool supports_strided_operands(const NodeContext& context) const override {
    return context.node.post_ops.empty() && has_pixel_pitches(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const MaxPool pool(window_of(context), view_of(context.input(0)), pixel_pitches(context));
    return with_post_ops(context, launch_of([pool](auto inputs, auto outputs) {
                           pool.run(static_cast<const float*>(inputs[0].data), static_cast<float*>(outputs[0].data));
                         }));
  }
};

}  // namespace

const Tactic& vector_max_pool() {
  static const MaxPoolTactic tactic;
  return tactic;
}

}  // namespace saccade::cpu
