#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace saccade {

/// The newest version of ONNX's own operator set that this reader was written for, and the oldest that it reads whole.
inline constexpr std::int64_t kNewestOpset = 28;
inline constexpr std::int64_t kOldestOpset = 7;

/// Versions of operator sets by domain; ONNX's own domain is "".
using OpsetVersions = std::map<std::string, std::int64_t>;

/// "ai.onnx" is another name of "".
std::string normal_domain(const std::string& domain);

/// Throws Error (kUnsupported) where OP of ONNX's own set of VERSION is not yet what it is in kOldestOpset.
void check_opset(std::string_view op, std::int64_t version);

/// IMPORTS (OperatorSetIdProtos) over DEFAULTS.
template <typename Imports>
OpsetVersions opset_versions(const Imports& imports, OpsetVersions defaults = {}) {
  for (const auto& import : imports) defaults[normal_domain(import.domain())] = import.version();
  return defaults;
}

}  // namespace saccade
