#include "cpu/tactics/half_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/integers.hpp"
#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/half_product_kernels.hpp"
#include "cpu/team/parallel.hpp"

// A part of the work is a strip of pixels times a group of panels, as in direct_product.cpp. Tiles multiply rows that
// are a constant stride apart, 32 elements of each at a time. Where pixels are not such rows, the part copies them:
// strided pixels and windows of three axes are unfolded; for others the lines of the input that the strip reads are
// copied with zeros around them, by phase of the stride, so that a tap is a constant offset for all pixels. Of few
// channels, the taps of a line of the window are adjacent elements, and a step takes them all. Neighbouring lines of a
// patch share their padding, and tiles run across it: sums of pixels past the end of a line are dropped.
//
// Bound: multiply-adds / peak.
namespace saccade::cpu {
namespace {

constexpr std::int64_t kColumns = HalfStrip::kColumns;
constexpr std::int64_t kHalfBytes = sizeof(std::uint16_t);
static_assert(HalfStrip::kColumns == RowOperations::kTileColumns && HalfStrip::kRows == RowOperations::kTileRows);

// Elements of a copy of a few.
constexpr std::int64_t kCopied = 32;

/// A product with what its runs need besides memory.
struct Prepared {
  explicit Prepared(PackedHalfProduct packed) : product(std::move(packed)), taps(taps_of(product.geometry.window)) {}

  PackedHalfProduct product;
  std::array<Taps, Window::kAxes> taps;

  bool packs_in_runs() const { return !product.weights.has_value(); }
  /// Of the panels that a run packs.
  std::size_t packed_bytes() const {
    const std::int64_t elements = packs_in_runs() ? product.matrices * product.geometry.packed_elements() : 0;
    return static_cast<std::size_t>(elements * kHalfBytes);
  }
  /// Of the lines that a pixel's taps read.
  std::size_t pointer_bytes() const {
    const Window& w = product.geometry.window;
    return static_cast<std::size_t>(round_up(w.kernel[0] * w.kernel[1] * std::int64_t{sizeof(void*)}, 64));
  }
  /// Of a rank: two tiles of sums, pointers and the copied rows.
  std::size_t rank_bytes() const {
    const std::int64_t copied = (product.geometry.copied_elements() + kCopied) * kHalfBytes;
    return 2 * HalfStrip::kTileBytes + pointer_bytes() + static_cast<std::size_t>(round_up(copied, 64));
  }
};

class BoundHalfProduct : public BoundLaunch {
 public:
  BoundHalfProduct(const Prepared& prepared, const Bindings& bindings, std::byte* ranks)
      : prepared_(prepared),
        g_(prepared.product.geometry),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        output_(static_cast<std::uint16_t*>(bindings.outputs[0].data)),
        ranks_(ranks),
        packed_(prepared.packs_in_runs() ? reinterpret_cast<std::uint16_t*>(bindings.scratch) : nullptr),
        weights_(prepared.packs_in_runs()
                     ? packed_
                     : reinterpret_cast<const std::uint16_t*>(prepared.product.weights->data<BFloat16>().data())),
        bias_(prepared.product.bias.data<float>().data()) {}

  void run() override {
    if (packed_ != nullptr) pack();
    const std::int64_t operations = g_.images * g_.pixels * g_.groups * g_.pixel_operations(g_.panels);
    parallel_for(g_.parts(), kParallelHalfOperations / (operations / g_.parts() + 1) + 1,
                 [this](std::int64_t begin, std::int64_t end) {
                   std::byte* own = ranks_ + static_cast<std::size_t>(current_rank().rank) * prepared_.rank_bytes();
                   for (std::int64_t part = begin; part < end; ++part) run_part(part, own);
                 });
  }

 private:
  /// All right operands of a GEMM.
  void pack() {
    const std::int64_t matrix = g_.in_channels * g_.out_channels;
    const auto* right = static_cast<const BFloat16*>(inputs_[1].data);
    const Weights<BFloat16> weights{right, {.out_channel = 1, .in_channel = g_.out_channels, .tap = 0}};
    parallel_for(prepared_.product.matrices * g_.panels, kParallelGrain / g_.panel_elements() + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     pack_half_panel(g_, weights, right + i / g_.panels * matrix, i % g_.panels,
                                     packed_ + i * g_.panel_elements());
                 });
  }

  /// The part of the output that a strip's sums belong to.
  struct Part {
    const BoundHalfProduct& product;
    std::int64_t image;
    std::int64_t first;         // pixel
    std::int64_t width;         // of a line of rows, pixels past the end included
    std::int64_t line;          // its pixels
    std::int64_t channel;       // of the first panel
    std::int64_t channels_end;  // of the group
    // The line of the rows that were finished last. The next ones are in it or near: divisions would take longer.
    std::int64_t line_number = 0;
    std::int64_t line_first = 0;  // row
  };

  /// Parts of the same panels follow each other.
  void run_part(std::int64_t part, std::byte* own) {
    const std::int64_t strip = part % g_.strips;
    const std::int64_t panels = part / g_.strips % g_.panel_groups;
    const std::int64_t group = part / (g_.strips * g_.panel_groups) % g_.groups;
    const std::int64_t image = part / (g_.strips * g_.panel_groups * g_.groups);
    const std::int64_t first = strip * g_.strip;
    const std::int64_t count = std::min(g_.strip, g_.pixels - first);
    const auto& first_pixels = prepared_.product.first_pixels;
    const std::int64_t before =
        first_pixels.empty() ? image * g_.window.inputs() : first_pixels[static_cast<std::size_t>(image)];
    const std::int64_t pitch = prepared_.product.pitches.in;
    const std::uint16_t* input =
        static_cast<const std::uint16_t*>(inputs_[0].data) + before * pitch + group * g_.in_channels;
    auto* sums = reinterpret_cast<float*>(own);
    own += 2 * HalfStrip::kTileBytes;
    auto** lines = reinterpret_cast<const std::uint16_t**>(own);
    auto* copied = reinterpret_cast<std::uint16_t*>(own + prepared_.pointer_bytes());
    const bool is_direct = g_.rows == RowSource::kDirect;
    const bool copies_lines = g_.copies_lines();
    const std::int64_t line = copies_lines ? g_.window.out[2] : count;
    const std::int64_t first_panel = panels * g_.part_panels;
    Part at{.product = *this,
            .image = image,
            .first = first,
            .width = copies_lines ? g_.patch_width : count,
            .line = line,
            .channel = group * g_.out_channels + first_panel * kColumns,
            .channels_end = (group + 1) * g_.out_channels};
    if (g_.rows == RowSource::kUnfolded) unfold(input, first, count, lines, copied);
    if (copies_lines) copy_patch(input, first / line, count / line, copied);
    const std::int64_t before_first = panels_before(image) + group * g_.panels + first_panel;
    kernels_.run({.rows = is_direct ? input + first * pitch : copied,
                  .stride = static_cast<std::size_t>(is_direct ? pitch : g_.row_elements),
                  .height = static_cast<std::size_t>((count / line - 1) * at.width + line),
                  .offsets = g_.offsets.data(),
                  .steps = g_.offsets.size(),
                  .depth = static_cast<std::size_t>(g_.depth),
                  .panel = weights_ + before_first * g_.panel_elements(),
                  .panels = static_cast<std::size_t>(std::min(g_.part_panels, g_.panels - first_panel)),
                  .panel_stride = static_cast<std::size_t>(g_.panel_elements()),
                  .last_columns = static_cast<std::size_t>(last_columns(first_panel)),
                  .initial = bias_ + (group * g_.panels + first_panel) * kColumns,
                  .sums = sums,
                  .finish = finish,
                  .data = &at});
  }

  /// Of the last panel of a part that begins with FIRST_PANEL.
  std::int64_t last_columns(std::int64_t first_panel) const {
    const std::int64_t last = std::min(first_panel + g_.part_panels, g_.panels) - 1;
    return std::min(kColumns, g_.out_channels - last * kColumns);
  }

  /// Of all matrices before the one that IMAGE is multiplied with.
  std::int64_t panels_before(std::int64_t image) const {
    const auto& matrices = prepared_.product.matrix_of_image;
    return matrices.empty() ? 0 : matrices[static_cast<std::size_t>(image)] * g_.panels;
  }

  /// Post-ops of a tile's pixels, line by line, and their output.
  static void finish(void* data, std::size_t panel, std::size_t first_row, std::size_t rows, float* sums) {
    Part& at = *static_cast<Part*>(data);
    const std::int64_t channel = at.channel + static_cast<std::int64_t>(panel) * kColumns;
    const auto end = static_cast<std::int64_t>(first_row + rows);
    for (auto row = static_cast<std::int64_t>(first_row); row < end;) {
      for (; row >= at.line_first + at.width; at.line_first += at.width) ++at.line_number;
      for (; row < at.line_first; at.line_first -= at.width) --at.line_number;
      const std::int64_t next = std::min(end, at.line_first + at.width);
      const std::int64_t count = std::min(next, at.line_first + at.line) - row;
      if (count > 0)
        at.product.store(at.image * at.product.g_.pixels + at.first + at.line_number * at.line + row - at.line_first,
                         count, channel, std::min(kColumns, at.channels_end - channel),
                         sums + (row - static_cast<std::int64_t>(first_row)) * kColumns);
      row = next;
    }
  }

  void store(std::int64_t pixel, std::int64_t count, std::int64_t channel, std::int64_t columns, float* sums) const {
    prepared_.product.operations.finish_tile(sums, pixel, count, channel, columns, prepared_.product.pitches.out,
                                             inputs_.data(), output_);
  }

  /// The elements of all taps of COUNT pixels from FIRST on, line by line.
  void unfold(const std::uint16_t* input, std::int64_t first, std::int64_t count, const std::uint16_t** lines,
              std::uint16_t* to) const {
    const std::int64_t width = g_.window.out[2];
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t x = (first + done) % width;
      const std::int64_t pixels = std::min(width - x, count - done);
      point(input, (first + done) / width, lines);
      unfold_line(lines, x, pixels, to);
      to += pixels * g_.row_elements;
      done += pixels;
    }
  }

  /// The lines of the input that the windows of output line LINE read; null: padding.
  void point(const std::uint16_t* input, std::int64_t line, const std::uint16_t** lines) const {
    const Window& w = g_.window;
    for (std::int64_t a = 0; a < w.kernel[0]; ++a)
      for (std::int64_t b = 0; b < w.kernel[1]; ++b, ++lines) {
        const std::int64_t depth = prepared_.taps[0].of(a)[line / w.out[1]];
        const std::int64_t row = prepared_.taps[1].of(b)[line % w.out[1]];
        const std::int64_t before = (depth * w.in[1] + row) * w.in[2] * prepared_.product.pitches.in;
        *lines = depth < 0 || row < 0 ? nullptr : input + before;
      }
  }

  /// COUNT pixels of an output line from X on.
  void unfold_line(const std::uint16_t* const* lines, std::int64_t x, std::int64_t count, std::uint16_t* to) const {
    const Window& w = g_.window;
    const std::int64_t pitch = prepared_.product.pitches.in;
    const std::uint16_t* end = static_cast<const std::uint16_t*>(inputs_[0].data) + inputs_[0].elements();
    // Neighbouring taps of all channels are neighbours in memory.
    const bool together = pitch == g_.in_channels && w.dilation[2] == 1;
    const std::int64_t run = w.kernel[2] * g_.in_channels;
    const std::int64_t rest = g_.row_elements - g_.taps * g_.in_channels;
    for (const std::int64_t last = x + count; x < last; ++x, to += rest) {
      const std::int64_t column = x * w.stride[2] - w.pad_begin[2];
      const bool is_whole = together && column >= 0 && column + w.kernel[2] <= w.in[2];
      for (std::int64_t i = 0; i < w.kernel[0] * w.kernel[1]; ++i, to += run) {
        if (lines[i] == nullptr)
          std::fill_n(to, run, std::uint16_t{0});
        else if (is_whole)
          copy(lines[i] + column * pitch, run, end, to);
        else
          copy_taps(lines[i], x, end, to);
      }
      std::fill_n(to, rest, std::uint16_t{0});
    }
  }

  /// The taps of output column X in one line of the input.
  void copy_taps(const std::uint16_t* from, std::int64_t x, const std::uint16_t* end, std::uint16_t* to) const {
    for (std::int64_t c = 0; c < g_.window.kernel[2]; ++c, to += g_.in_channels) {
      const std::int64_t column = prepared_.taps[2].of(c)[x];
      if (column < 0)
        std::fill_n(to, g_.in_channels, std::uint16_t{0});
      else
        copy(from + column * prepared_.product.pitches.in, g_.in_channels, end, to);
    }
  }

  /// COUNT elements. A whole vector for a few, if it ends before END: what it writes past them is written next.
  static void copy(const std::uint16_t* from, std::int64_t count, const std::uint16_t* end, std::uint16_t* to) {
    if (count <= kCopied && end - from >= kCopied)
      std::memcpy(to, from, kCopied * sizeof(std::uint16_t));
    else
      std::copy_n(from, count, to);
  }

  /// The lines of the input that COUNT output lines from FIRST on read, by phase.
  void copy_patch(const std::uint16_t* input, std::int64_t first, std::int64_t count, std::uint16_t* to) const {
    const Window& w = g_.window;
    const std::int64_t line = g_.patch_width * g_.row_elements;
    const std::int64_t rest = (g_.patch_pixels - (count + g_.patch_lines) * g_.patch_width) * g_.row_elements;
    const bool is_patch = g_.rows == RowSource::kPatch;
    const std::int64_t phases = is_patch ? w.stride[2] : 1;  // of a line
    for (std::int64_t phase = 0; phase < w.stride[1] * phases; ++phase) {
      for (std::int64_t q = first; q < first + count + g_.patch_lines; ++q, to += line) {
        const std::int64_t y = q * w.stride[1] + phase / phases - w.pad_begin[1];
        const std::uint16_t* from = input + y * w.in[2] * prepared_.product.pitches.in;
        if (y < 0 || y >= w.in[1])
          std::fill_n(to, line, std::uint16_t{0});
        else if (is_patch)
          copy_line(from, phase % phases, to);
        else
          copy_whole_line(from, to);
      }
      std::fill_n(to, rest, std::uint16_t{0});
      to += rest;
    }
  }

  void copy_line(const std::uint16_t* line, std::int64_t phase, std::uint16_t* to) const {
    const Window& w = g_.window;
    const std::int64_t step = prepared_.product.pitches.in;
    const std::int64_t rest = g_.row_elements - g_.in_channels;
    const auto column = [&](std::int64_t q) { return q * w.stride[2] + phase - w.pad_begin[2]; };
    std::int64_t q = 0;
    for (; q < g_.patch_width && column(q) < 0; ++q, to += g_.row_elements)
      std::fill_n(to, g_.row_elements, std::uint16_t{0});
    if (w.stride[2] == 1 && rest == 0 && step == g_.in_channels) {
      const std::int64_t pixels = std::clamp<std::int64_t>(w.in[2] - column(q), 0, g_.patch_width - q);
      std::copy_n(line + column(q) * step, pixels * step, to);
      q += pixels;
      to += pixels * step;
    }
    for (; q < g_.patch_width && column(q) < w.in[2]; ++q, to += rest) {
      to = std::copy_n(line + column(q) * step, g_.in_channels, to);
      std::fill_n(to, rest, std::uint16_t{0});
    }
    std::fill_n(to, (g_.patch_width - q) * g_.row_elements, std::uint16_t{0});
  }

  /// A line of pixels, each with zeros behind its channels to an even number.
  void copy_whole_line(const std::uint16_t* line, std::uint16_t* to) const {
    const Window& w = g_.window;
    const std::int64_t step = prepared_.product.pitches.in;
    const std::int64_t channels = g_.row_elements / w.stride[2];
    std::uint16_t* end = to + g_.patch_width * g_.row_elements;
    to = std::fill_n(to, std::min(w.pad_begin[2] * channels, end - to), std::uint16_t{0});
    std::int64_t pixels = std::min(w.in[2], (end - to) / channels);
    // Padded channels are zero, not another group's or another part's of the storage: those may be NaN.
    if (g_.in_channels == step && channels == step) {
      to = std::copy_n(line, pixels * step, to);
      pixels = 0;
    } else if (g_.in_channels == 3 && step == 3) {
      half_kernels().pad_three(line, static_cast<std::size_t>(pixels), to);
      to += pixels * channels;
      pixels = 0;
    }
    for (; pixels > 0; --pixels, line += step) {
      to = std::copy_n(line, g_.in_channels, to);
      if (channels > g_.in_channels) *to++ = 0;
    }
    std::fill(to, end, std::uint16_t{0});
  }

  const HalfProductKernels& kernels_ = half_product_kernels();
  const Prepared& prepared_;
  const HalfGeometry& g_;
  std::vector<TensorView> inputs_;
  std::uint16_t* output_;
  std::byte* ranks_;
  std::uint16_t* packed_;  // null: the weights were packed by compile()
  const std::uint16_t* weights_;
  const float* bias_;
};

class HalfProductLaunch : public Launch {
 public:
  HalfProductLaunch(PackedHalfProduct product, int threads)
      : prepared_(std::move(product)), threads_(std::max(threads, 1)) {}

  std::size_t scratch_bytes() const override {
    return padded_packed() + static_cast<std::size_t>(threads_) * prepared_.rank_bytes();
  }
  std::string detail() const override {
    constexpr std::array<std::string_view, 4> kNames{"direct", "unfolded", "patches", "lines"};
    const HalfGeometry& g = prepared_.product.geometry;
    return fmt::format("{}, {}, {} parts of {} pixels x {} channels", half_product_kernels().name,
                       kNames[static_cast<std::size_t>(g.rows)], g.parts(), g.strip,
                       std::min(g.part_panels * kColumns, g.out_channels));
  }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundHalfProduct>(prepared_, bindings, bindings.scratch + padded_packed());
  }

 private:
  std::size_t padded_packed() const {
    return static_cast<std::size_t>(round_up(static_cast<std::int64_t>(prepared_.packed_bytes()), 64));
  }

  Prepared prepared_;
  int threads_;
};

}  // namespace

std::unique_ptr<Launch> half_product_launch(PackedHalfProduct product, int threads) {
  return std::make_unique<HalfProductLaunch>(std::move(product), threads);
}

}  // namespace saccade::cpu
