#include "measure/statistics/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace saccade {
namespace {

constexpr std::array kTimeUnits = {TimeUnit{"ns", 1}, TimeUnit{"µs", 1e3}, TimeUnit{"ms", 1e6}, TimeUnit{"s", 1e9}};

struct UnitPrefix {
  std::string_view name;
  double factor;
};
constexpr std::array kUnitPrefixes = {UnitPrefix{"", 1},    UnitPrefix{"k", 1e3},  UnitPrefix{"M", 1e6},
                                      UnitPrefix{"G", 1e9}, UnitPrefix{"T", 1e12}, UnitPrefix{"P", 1e15}};

// 999.6 would be printed as 1000 of the smaller unit.
constexpr double kRoundsUp = 0.9995;

}  // namespace

TimeUnit time_unit(Nanoseconds largest) {
  TimeUnit unit = kTimeUnits.front();
  for (const TimeUnit& each : kTimeUnits)
    if (std::abs(largest.count()) >= each.nanoseconds * kRoundsUp) unit = each;
  return unit;
}

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const int whole = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(digits - whole, 0));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string duration_text(Nanoseconds time) {
  const TimeUnit unit = time_unit(time);
  return fmt::format("{} {}", number_text(time.count() / unit.nanoseconds), unit.name);
}

std::string quantity_text(double value, std::string_view unit) {
  UnitPrefix prefix = kUnitPrefixes.front();
  for (const UnitPrefix& each : kUnitPrefixes)
    if (std::abs(value) >= each.factor * kRoundsUp) prefix = each;
  return fmt::format("{} {}{}", number_text(value / prefix.factor), prefix.name, unit);
}

std::string percent_text(double share) { return fmt::format("{} %", number_text(100 * share, 2)); }

}  // namespace saccade
