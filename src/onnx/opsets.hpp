#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace saccade {

/// The newest version of the ONNX operator set that this reader supports, and the oldest that it supports completely.
inline constexpr std::int64_t kNewestOpset = 28;
inline constexpr std::int64_t kOldestOpset = 7;

/// Versions of operator sets by domain; the ONNX domain is "".
using OpsetVersions = std::map<std::string, std::int64_t>;

/// "ai.onnx" is an alias of "".
std::string normal_domain(const std::string& domain);

/// Throws Error (kUnsupported) if OP of the ONNX operator set VERSION differs from its definition in kOldestOpset.
void check_opset(std::string_view op, std::int64_t version);

/// IMPORTS (OperatorSetIdProtos) over DEFAULTS.
template <typename Imports>
OpsetVersions opset_versions(const Imports& imports, OpsetVersions defaults = {}) {
  for (const auto& import : imports) defaults[normal_domain(import.domain())] = import.version();
  return defaults;
}

}  // namespace saccade
