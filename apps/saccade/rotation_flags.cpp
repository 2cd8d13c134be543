#include "rotation_flags.hpp"

#include <fmt/format.h>

#include "flags/numbers.hpp"

namespace saccade::app {
namespace {

/// Seconds of a unit of time; 0: it is none.
constexpr std::int64_t seconds_of(char unit) {
  switch (unit) {
    case 's': return 1;
    case 'm': return 60;
    case 'h': return 3600;
    case 'd': return 86'400;
    default: return 0;
  }
}

}  // namespace

Rotation parse_rotation(const std::string& text) {
  constexpr std::int64_t kLongest = 3650 * seconds_of('d');
  const std::int64_t unit = text.empty() ? 0 : seconds_of(text.back());
  const std::string number = text.substr(0, text.size() - (text.empty() ? 0 : 1));
  if (unit > 0) {
    const auto count = read_number<std::int64_t>(number);
    if (count && *count > 0 && *count <= kLongest / unit) return {.period = std::chrono::seconds(*count * unit)};
  } else if (!read_number<std::uint64_t>(text)) {  // a number alone could be either
    if (const auto bytes = read_size(text)) return {.bytes = *bytes};
  }
  throw UsageError("--rotate",
                   fmt::format("'{}' is not a size, such as 500M or 1G, or a time of at most 3650d, such as 30s, 10m, "
                               "1h or 1d",
                               text));
}

void RotationFlags::bind(FlagBinder& binder) {
  binder.bind("--rotate", [this](const std::string& text) {
    const std::size_t keep = rotation.keep;
    rotation = parse_rotation(text);
    rotation.keep = keep;
  });
  binder.bind("--keep", &rotation.keep);
}

}  // namespace saccade::app
