#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace saccade {

/// The newest version of ONNX's own operator set that this reader was written for, and the oldest that it reads.
inline constexpr std::int64_t kNewestOpset = 28;
inline constexpr std::int64_t kOldestOpset = 7;

/// Versions of operator sets by domain; ONNX's own domain is "".
using OpsetVersions = std::map<std::string, std::int64_t>;

/// "ai.onnx" is another name of "".
std::string normal_domain(const std::string& domain);

/// Throws Error (kUnsupported) where the version of ONNX's own set is older than kOldestOpset.
void check_opset(const OpsetVersions& versions);

/// IMPORTS (OperatorSetIdProtos) over DEFAULTS.
template <typename Imports>
OpsetVersions opset_versions(const Imports& imports, OpsetVersions defaults = {}) {
  for (const auto& import : imports) defaults[normal_domain(import.domain())] = import.version();
  return defaults;
}

}  // namespace saccade
