#pragma once

#include "saccade/tensor.hpp"

namespace saccade {

/// What fp32 outputs of two engines that agree stay below, by far: those that agree are near 1e-6, and an output that
/// ignores its input is near 1.
inline constexpr double kLargestDrift = 1e-3;
/// The same where products' factors are rounded to tf32, and of halves: each engine rounds in its own places.
inline constexpr double kLargestTf32Drift = 0.02;
inline constexpr double kLargestHalfDrift = 0.1;

/// How far an output X is from a reference's, in units of how much the reference itself changes with its input:
///
///     max over channels c of  |x_c - ref_c| / max(|ref_c - other_c|, |ref_c| / 100)
///
/// with L2 norms; OTHER is the reference's output for another input. Channels are those of axis 1, and of the last
/// axis where a tensor of rank 3 has at most 1024 there; a tensor of rank 2 or less is one channel. The rows of a
/// DETR's 100 or 300 queries are compared as a set where their order differs: near ties may swap, and 2 % of the rows
/// may be others. Infinite where shapes differ or X is not finite where the reference is. An error relative to the
/// whole output's size would hide broken class scores behind boxes in pixels. Throws Error (kUnsupported) where
/// elements are no numbers.
double drift(const Tensor& x, const Tensor& reference, const Tensor& other);

}  // namespace saccade
