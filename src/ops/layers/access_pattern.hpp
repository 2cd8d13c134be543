#pragma once

#include <array>
#include <optional>
#include <vector>

#include "saccade/tensor.hpp"

namespace saccade {

/// COUNT iterations (2 or more), STEP elements apart.
struct AffineLoop {
  std::int64_t count = 1;
  std::int64_t step = 0;
  friend bool operator==(const AffineLoop&, const AffineLoop&) = default;
};

/// The affine origin of a tensor's elements: (i, j, ...) is element offset + i * steps[0] + j * steps[1] + ... of
/// another tensor.
struct Origin {
  std::int64_t offset = 0;
  Shape steps;
};

/// Three nested loops over a tensor's elements, which are numbered in row-major order of its shape, whatever its
/// layout. A view therefore has the pattern of its source, and a transposed, sliced or broadcast tensor another pattern
/// on the tensor that it was made from.
struct AccessPattern {
  static constexpr std::size_t kLoops = 3;
  /// A loop of one iteration is empty; one that is not affine is several, outermost first.
  using Loop = std::vector<AffineLoop>;

  std::int64_t offset = 0;
  std::array<Loop, kLoops> loops;

  /// The number of iterations of loop LOOP.
  std::int64_t iterations(std::size_t loop) const;
  /// The offset of the loop in elements at ITERATION.
  std::int64_t along(std::size_t loop, std::int64_t iteration) const;
  /// Whether the loop's offset is constant.
  bool is_constant(std::size_t loop) const;
  /// Removes loops of one iteration and merges contiguous ones.
  void simplify();

  /// The format of the attribute: the offset, the number of affine loops of each loop, and all of them.
  std::vector<std::int64_t> to_integers() const;
  /// Throws Error (kInvalidFile) unless they are a pattern within a tensor of ELEMENTS elements, with no negative
  /// steps.
  static AccessPattern from_integers(const std::vector<std::int64_t>& integers, std::int64_t elements);

  friend bool operator==(const AccessPattern&, const AccessPattern&) = default;
};

/// PATTERN on a tensor of SHAPE, as a pattern on the tensor that its elements came from. Nothing if that is not affine:
/// if a loop would carry into the next dimension.
std::optional<AccessPattern> compose(const AccessPattern& pattern, const Shape& shape, const Origin& origin);

}  // namespace saccade
