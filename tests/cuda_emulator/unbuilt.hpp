#pragma once

namespace saccade::emulator {

/// How the image of kernels begins that are not compiled, since SACCADE_EMULATOR_RUN says so. Lines follow: the
/// architecture, and each kernel's name, a blank, and a letter a parameter: p for a pointer, v for another value.
inline constexpr char kUnbuilt[] = "kernels that are not built\n";

}  // namespace saccade::emulator
