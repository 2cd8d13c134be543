#include "onnx/opsets.hpp"

#include "base/error.hpp"

namespace saccade {

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

void check_opset(const OpsetVersions& versions) {
  const auto own = versions.find("");
  if (own != versions.end() && own->second < kOldestOpset)
    fail(ErrorCode::kUnsupported,
         "operator set {} is older than {}, the oldest that is supported; export the model again or convert it: "
         "onnx.version_converter.convert_version(model, 17)",
         own->second, kOldestOpset);
}

}  // namespace saccade
