#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::fuzz {

/// A plan as the fuzzer holds it: the header, a NUL, which no JSON text has, and the blob. What lies around these in a
/// file, lengths and checksums, is made anew for each input, or no mutation would get past it.
struct PlanInput {
  std::string_view header;
  std::string_view blob;

  explicit PlanInput(std::string_view bytes)
      : header(bytes.substr(0, bytes.find('\0'))), blob(bytes.substr(std::min(header.size() + 1, bytes.size()))) {}
};

inline std::string input_of(std::string_view header, std::string_view blob) {
  std::string bytes(header);
  bytes += '\0';
  bytes += blob;
  return bytes;
}

}  // namespace saccade::fuzz
