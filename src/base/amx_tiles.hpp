#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace saccade {

/// The operand of LDTILECFG: tiles of 64-byte rows. Tiles 0 to 3 are the accumulators of an upper and a lower block of
/// rows, two each; 4 and 5 are their left operands, 6 and 7 the right operands.
struct alignas(64) TileConfiguration {
  static constexpr std::size_t kRows = 16;
  static constexpr std::size_t kRowBytes = 64;

  /// The rows of the two blocks, at most kRows, and DEPTH bytes of a row of the left operands, a multiple of 4 up to
  /// kRowBytes. A block without rows has no tiles.
  constexpr explicit TileConfiguration(std::size_t upper = kRows, std::size_t lower = kRows,
                                       std::size_t depth = kRowBytes) {
    const std::size_t right = depth / 4;
    const std::array<std::size_t, 8> heights{upper, upper, lower, lower, upper, lower, right, right};
    for (std::size_t i = 0; i < heights.size(); ++i) {
      const std::size_t bytes = i == 4 || i == 5 ? depth : kRowBytes;
      row_bytes[i] = static_cast<std::uint16_t>(heights[i] == 0 ? 0 : bytes);
      rows[i] = static_cast<std::uint8_t>(heights[i]);
    }
  }

  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{};
  std::array<std::uint8_t, 16> rows{};
};
static_assert(sizeof(TileConfiguration) == 64);

}  // namespace saccade
