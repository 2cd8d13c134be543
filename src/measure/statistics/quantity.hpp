#pragma once

#include <string_view>

namespace saccade {

/// The unit of a quantity.
enum class Unit {
  kOperationRate,  ///< operations per second: "56.28 TFLOP/s", "1 TOP/s"
  kByteRate,       ///< bytes per second: "960 GB/s"
  kBytes,          ///< "32 MiB", "48 kB"
  kTime,           ///< seconds: "12.2 ms"
};

/// Parses texts like the above into operations, bytes and seconds. Prefixes k, M, G, T, P are powers of 1000; Ki, Mi,
/// Gi, Ti before bytes powers of 1024. Throws Error (kInvalidArgument) showing the syntax.
double parse_quantity(std::string_view text, Unit unit);

}  // namespace saccade
