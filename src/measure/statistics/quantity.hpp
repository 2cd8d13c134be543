#pragma once

#include <string_view>

namespace saccade {

/// What a figure is a figure of.
enum class Unit {
  kOperationRate,  ///< operations per second: "56.28 TFLOP/s", "1 TOP/s"
  kByteRate,       ///< bytes per second: "960 GB/s"
  kBytes,          ///< "32 MiB", "48 kB"
  kTime,           ///< seconds: "12.2 ms"
};

/// The number that a text like those above says, in operations, bytes and seconds. Prefixes k, M, G, T, P are powers of
/// 1000; Ki, Mi, Gi, Ti before bytes powers of 1024. Throws Error (kInvalidArgument) showing what to write.
double parse_quantity(std::string_view text, Unit unit);

}  // namespace saccade
