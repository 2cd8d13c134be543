#include "serve/protocol.hpp"

#include <fmt/ranges.h>

namespace saccade::serve {

bool with_version(const Repository& models, std::string_view name, std::string_view version,
                  const std::function<void(ServedModel&)>& use) {
  return (version.empty() || version == kVersion) && models.with(name, use);
}

std::string unknown_model(const Repository& models, std::string_view name, std::string_view version) {
  std::vector<std::string> quoted;
  for (const std::string& each : models.names()) quoted.push_back("'" + each + "'");
  return fmt::format("there is no model '{}'{}; the models are {}, of version '{}'", brief(name),
                     version.empty() ? "" : " of version '" + brief(version) + "'",
                     quoted.empty() ? "none" : fmt::format("{}", fmt::join(quoted, ", ")), kVersion);
}

std::optional<int> image_axis_of(const Signature& model, std::size_t output) {
  return model.image_axes.empty() ? std::nullopt : model.image_axes[output];
}

std::vector<std::int64_t> configured_shape(const Signature& model, const TensorInfo& tensor) {
  const auto skipped = model.most_images > 1 && tensor.shape.rank() > 0 ? 1 : 0;
  return {tensor.shape.begin() + skipped, tensor.shape.end()};
}

}  // namespace saccade::serve
