#include "measure/statistics/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace saccade {
namespace {

struct Prefix {
  std::string_view text;
  double factor;
};
constexpr std::array kPrefixes = {
    Prefix{"Ki", 0x1p10}, Prefix{"Mi", 0x1p20}, Prefix{"Gi", 0x1p30}, Prefix{"Ti", 0x1p40}, Prefix{"k", 1e3},
    Prefix{"K", 1e3},     Prefix{"M", 1e6},     Prefix{"G", 1e9},     Prefix{"T", 1e12},    Prefix{"P", 1e15},
    Prefix{"m", 1e-3},    Prefix{"u", 1e-6},    Prefix{"µ", 1e-6},    Prefix{"n", 1e-9},
};

struct UnitRow {
  std::array<std::string_view, 4> names;  // accepted names; the first is used in messages
  std::string_view example;
};
constexpr std::array kUnits = {
    UnitRow{{"FLOP/s", "OP/s", "FLOPS", "OPS"}, "56.28 TFLOP/s"},
    UnitRow{{"B/s"}, "960 GB/s"},
    UnitRow{{"B"}, "32 MiB"},
    UnitRow{{"s"}, "12.2 ms"},
};

const UnitRow& row_of(Unit unit) { return kUnits[static_cast<std::size_t>(unit)]; }

/// The factor of PREFIX; 0 if it is invalid for the unit.
double factor_of(std::string_view prefix, Unit unit) {
  if (prefix.empty()) return 1;
  const bool is_time = unit == Unit::kTime;
  for (const Prefix& each : kPrefixes) {
    if (each.text != prefix) continue;
    const bool is_binary = each.text.ends_with('i');
    if ((each.factor < 1) != is_time || (is_binary && unit == Unit::kOperationRate)) return 0;
    return each.factor;
  }
  return 0;
}

}  // namespace

double parse_quantity(std::string_view text, Unit unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (error == std::errc() && std::isfinite(value) && value >= 0) {
    for (const std::string_view name : row_of(unit).names) {
      if (name.empty() || !rest.ends_with(name)) continue;
      if (const double factor = factor_of(rest.substr(0, rest.size() - name.size()), unit); factor > 0)
        return value * factor;
    }
  }
  fail(ErrorCode::kInvalidArgument, "'{}' can't be read; an example is '{}'", text, row_of(unit).example);
}

}  // namespace saccade
