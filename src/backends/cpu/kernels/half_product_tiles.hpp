#pragma once

#include "cpu/kernels/half_product_kernels.hpp"

namespace saccade::cpu {

/// A tile of sums: rows of a strip times a panel.
struct HalfTile {
  const std::uint16_t* rows;
  std::size_t height;  ///< up to HalfStrip::kRows
  const std::uint16_t* panel;
  const float* initial;
  float* sums;
  bool is_first;        ///< the panel is read for the first time
  std::size_t columns;  ///< that are used: the first ones
};

/// The tile before, whose rows are finished while the next tile is multiplied.
class UnfinishedTile {
 public:
  explicit UnfinishedTile(const HalfStrip& strip) : strip_(strip) {}

  void set(std::size_t panel, std::size_t first_row, std::size_t height, float* sums) {
    panel_ = panel;
    row_ = first_row;
    end_ = first_row + height;
    sums_ = sums;
  }
  /// Finishes up to MOST rows.
  void finish(std::size_t most) {
    if (row_ == end_) return;
    const std::size_t rows = end_ - row_ < most ? end_ - row_ : most;
    strip_.finish(strip_.data, panel_, row_, rows, sums_);
    row_ += rows;
    sums_ += rows * HalfStrip::kColumns;
  }

 private:
  const HalfStrip& strip_;
  std::size_t panel_ = 0;
  std::size_t row_ = 0;
  std::size_t end_ = 0;
  float* sums_ = nullptr;
};

/// Runs MULTIPLY(tile, unfinished) for each tile of STRIP: for a tile's rows, which stay in L1, all panels, which are
/// contiguous in L2.
template <typename Multiply>
void run_tiles(const HalfStrip& strip, const Multiply& multiply) {
  constexpr std::size_t kTile = HalfStrip::kRows * HalfStrip::kColumns;
  UnfinishedTile unfinished(strip);
  bool is_second = false;
  for (std::size_t first = 0; first < strip.height; first += HalfStrip::kRows) {
    const std::size_t height = strip.height - first < HalfStrip::kRows ? strip.height - first : HalfStrip::kRows;
    for (std::size_t p = 0; p < strip.panels; ++p) {
      const std::size_t column = p * HalfStrip::kColumns;
      float* sums = strip.finish != nullptr ? strip.sums + (is_second ? kTile : 0)
                                            : strip.sums + first * strip.sums_stride + column;
      multiply(HalfTile{.rows = strip.rows + first * strip.stride,
                        .height = height,
                        .panel = strip.panel + p * strip.panel_stride,
                        .initial = strip.initial == nullptr ? nullptr : strip.initial + column,
                        .sums = sums,
                        .is_first = first == 0,
                        .columns = p + 1 == strip.panels ? strip.last_columns : HalfStrip::kColumns},
               unfinished);
      if (strip.finish == nullptr) continue;
      unfinished.finish(HalfStrip::kRows);
      unfinished.set(p, first, height, sums);
      is_second = !is_second;
    }
  }
  unfinished.finish(HalfStrip::kRows);
}

/// Kernels with instructions that Highway 1.0 has no target for; null: the processor lacks them, or the operating
/// system refuses the tiles.
const HalfProductKernels* amx_half_kernels();
const HalfProductKernels* avx512_half_kernels();

}  // namespace saccade::cpu
