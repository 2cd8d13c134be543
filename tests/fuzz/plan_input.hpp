#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::fuzz {

/// The fuzzer's form of a plan: the header, a NUL, which JSON text does not contain, and the blob. Lengths and
/// checksums of the file are recomputed for each input, or no mutation would get past them.
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
