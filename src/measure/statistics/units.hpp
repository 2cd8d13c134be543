#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace saccade {

/// Fractional nanoseconds, for bounds and densities.
using Nanoseconds = std::chrono::duration<double, std::nano>;

/// The unit for a time, and its length in nanoseconds: an axis has one for all its labels.
struct TimeUnit {
  std::string_view name;  ///< "ns", "µs", "ms", "s"
  double nanoseconds = 1;
};
TimeUnit time_unit(Nanoseconds largest);

/// Three significant digits in a suitable unit: "9.41 ms", "310 µs", "0 ns".
std::string duration_text(Nanoseconds time);
/// Three significant digits with an SI prefix: "56.3 TFLOP/s", "960 GB/s", "12 FLOP/byte".
std::string quantity_text(double value, std::string_view unit);
/// A fraction as a percentage: "41 %", "3.2 %", "0.04 %".
std::string percent_text(double share);
/// VALUE with DIGITS significant digits, without exponent and trailing zeros after the decimal point: "0.25", "1200".
std::string number_text(double value, int digits = 3);

}  // namespace saccade
