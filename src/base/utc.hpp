#pragma once

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace saccade {

/// Writes TIME in UTC to OUT as RFC 3339 has it, with microseconds: "2025-01-31T23:59:59.000000Z".
template <typename Out>
Out format_utc(Out out, std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format_to(out, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                        utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                        std::chrono::floor<std::chrono::microseconds>(time - whole).count());
}

}  // namespace saccade
