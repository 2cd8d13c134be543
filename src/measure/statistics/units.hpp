#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace saccade {

/// A time of any size, in nanoseconds: what bounds and densities are computed in.
using Nanoseconds = std::chrono::duration<double, std::nano>;

/// The unit that suits a time, and what to divide nanoseconds by to get it: an axis has one for all its labels.
struct TimeUnit {
  std::string_view name;  ///< "ns", "µs", "ms", "s"
  double nanoseconds = 1;
};
TimeUnit time_unit(Nanoseconds largest);

/// Three significant digits in the unit that suits: "9.41 ms", "310 µs", "0 ns".
std::string duration_text(Nanoseconds time);
/// Three significant digits with an SI prefix: "56.3 TFLOP/s", "960 GB/s", "12 FLOP/byte".
std::string quantity_text(double value, std::string_view unit);
/// A share of 1 in per cent: "41 %", "3.2 %", "0.04 %".
std::string percent_text(double share);
/// VALUE with DIGITS significant digits, no exponent and no trailing zeros behind a point: "0.25", "1200".
std::string number_text(double value, int digits = 3);

}  // namespace saccade
