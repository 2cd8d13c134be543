#pragma once

namespace saccade::emulator {

/// First line of the image of kernels that are not compiled, by SACCADE_EMULATOR_RUN. Lines follow: the architecture,
/// then per kernel its name, a blank, and a letter per parameter: p for a pointer, v for another value.
inline constexpr char kUnbuilt[] = "kernels that are not built\n";

}  // namespace saccade::emulator
