#pragma once

#include "saccade/tensor.hpp"

namespace saccade {

/// The drift limit of fp32 outputs: engines that agree are near 1e-6, and an output that ignores its input is near 1.
inline constexpr double kLargestDrift = 1e-3;
/// The limit with operands rounded to tf32, and in half precision: each engine rounds at its own places.
inline constexpr double kLargestTf32Drift = 0.02;
inline constexpr double kLargestHalfDrift = 0.1;

/// The distance of an output X from a reference, relative to how much the reference changes with its input:
///
///     max over channels c of  |x_c - ref_c| / max(|ref_c - other_c|, |ref_c| / 100, 1e-4 sqrt(n))
///
/// with L2 norms of n elements; OTHER is the reference's output for another input. Channels are those of axis 1, or of
/// the last axis if a tensor of rank 3 has at most 1024 there; a tensor of rank 2 or less is one channel. The rows of a
/// DETR's 100 or 300 queries are compared as a set if their order differs: near ties may swap, and 2 % of the rows may
/// differ. The last term is an absolute floor: class scores of 5e-5 differ by the rounding of a sigmoid, 3e-8, and that
/// is not a disagreement. Infinite if shapes differ or X is not finite where the reference is. An error relative to the
/// whole output's magnitude would hide wrong class scores behind boxes in pixels. Throws Error (kUnsupported) if
/// elements are not numbers.
double drift(const Tensor& x, const Tensor& reference, const Tensor& other);

}  // namespace saccade
