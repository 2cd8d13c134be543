#pragma once

#include <algorithm>
#include <vector>

#include "ops/layers/multiply.hpp"
#include "ops/layers/window.hpp"

namespace saccade {

/// The dimensions of a convolution; `channels` are the input's, `filters` the output's.
struct ConvShape {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  std::int64_t filters = 0;
  std::int64_t groups = 1;
  Window window;

  /// Products per output: the channels of a group times the kernel's taps.
  std::int64_t depth() const { return channels / groups * window.taps(); }
};

/// The dimensions of a convolution from its attributes and the shapes of input and weights. Throws Error (kInvalidFile,
/// kUnsupported) if they do not fit. Defined in conv.cpp.
ConvShape conv_shape(const Attributes& attributes, const Shape& input, const Shape& weights);

namespace detail {

/// Writes one row of the im2col matrix: the input of one tap of one channel for COUNT outputs from FIRST on.
template <typename T, typename Source>
void unfold_tap(const Window& window, const std::array<const std::int64_t*, Window::kAxes>& taps, std::int64_t channel,
                std::int64_t first, std::int64_t count, const Source& source, T* row) {
  for (std::int64_t at = first; at < first + count;) {
    const std::int64_t line = at / window.out[2];
    const std::int64_t x = at % window.out[2];
    const std::int64_t run = std::min(window.out[2] - x, first + count - at);
    const std::int64_t depth = taps[0][line / window.out[1]];
    const std::int64_t height = taps[1][line % window.out[1]];
    if (depth < 0 || height < 0) {
      std::fill_n(row, run, T{});
    } else {
      const std::int64_t base = ((channel * window.in[0] + depth) * window.in[1] + height) * window.in[2];
      for (std::int64_t i = 0; i < run; ++i) {
        const std::int64_t width = taps[2][x + i];
        row[i] = width < 0 ? T{} : source(base + width);
      }
    }
    row += run;
    at += run;
  }
}

}  // namespace detail

/// Convolution by im2col and GEMM: a tile of outputs becomes a matrix with one row per (channel, tap), which is
/// multiplied by the matrix of filters. Accumulators are of type T. SOURCE(i) returns element i of the input as T
/// (padding is T{}); WEIGHTS holds one row of shape.depth() per filter; STORE(image, filter, first, values) receives
/// the accumulators of a run of outputs. A transposed convolution is the same with taps that skip between the strides.
template <typename T, typename Source, typename Store>
void convolve(const ConvShape& shape, bool transposed, const Source& source, const T* weights, const Store& store) {
  const Window& window = shape.window;
  const auto taps = taps_of(window, transposed);
  const std::int64_t depth = shape.depth();
  const std::int64_t filters = shape.filters / shape.groups;
  const std::int64_t channels = shape.channels / shape.groups;
  // The im2col tile should stay in L2.
  const std::int64_t tile = std::clamp<std::int64_t>((1 << 17) / std::max<std::int64_t>(depth, 1) / 8 * 8, 16, 512);
  std::vector<T> unfolded(static_cast<std::size_t>(depth * tile));
  std::vector<T> sums(static_cast<std::size_t>(filters * tile));
  const auto unfold = [&](std::int64_t channel, std::int64_t first, std::int64_t count) {
    T* row = unfolded.data();
    for (std::int64_t c = channel; c < channel + channels; ++c)
      for (std::int64_t z = 0; z < window.kernel[0]; ++z)
        for (std::int64_t y = 0; y < window.kernel[1]; ++y)
          for (std::int64_t x = 0; x < window.kernel[2]; ++x, row += tile)
            detail::unfold_tap(window, {taps[0].of(z), taps[1].of(y), taps[2].of(x)}, c, first, count, source, row);
  };
  for (std::int64_t image = 0; image < shape.batch; ++image) {
    for (std::int64_t group = 0; group < shape.groups; ++group) {
      for (std::int64_t first = 0; first < window.outputs(); first += tile) {
        const std::int64_t count = std::min(tile, window.outputs() - first);
        unfold(image * shape.channels + group * channels, first, count);
        std::ranges::fill(sums, T{});
        multiply_add(filters, count, depth, weights + group * filters * depth, depth, unfolded.data(), tile,
                     sums.data(), tile);
        for (std::int64_t filter = 0; filter < filters; ++filter)
          store(image, group * filters + filter, first,
                std::span<const T>(sums.data() + filter * tile, static_cast<std::size_t>(count)));
      }
    }
  }
}

}  // namespace saccade
