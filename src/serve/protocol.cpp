#include "serve/protocol.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.hpp"
#include "serve/memory_regions.hpp"

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

void refuse_parameter(std::string_view name) {
  fail(ErrorCode::kInvalidArgument, "the parameter '{}' is not supported: a model is loaded as its file and card are",
       brief(name));
}

void check_parameter(std::string_view name, ParametersOf of) {
  using enum ParametersOf;
  const auto is_one_of = [name](std::initializer_list<std::string_view> known) {
    return std::ranges::find(known, name) != known.end();
  };
  const bool is_region = is_one_of({kRegion, kRegionBytes, kRegionOffset});
  switch (of) {
    case kRequest:
      if (is_one_of({"timeout", "binary_data_output"})) return;
      fail(ErrorCode::kInvalidArgument, "the parameter '{}' of the request is not known", brief(name));
    case kInput:
      if (is_region || name == "binary_data_size") return;
      fail(ErrorCode::kInvalidArgument, "the parameter '{}' of an input is not known", brief(name));
    case kOutput: break;
  }
  if (!is_region && !is_one_of({"binary_data", "classification"}))
    fail(ErrorCode::kInvalidArgument, "the parameter '{}' of an output is not known", brief(name));
}

std::optional<int> image_axis_of(const Signature& model, std::size_t output) {
  return model.image_axes.empty() ? std::nullopt : model.image_axes[output];
}

std::vector<std::int64_t> configured_shape(const Signature& model, const TensorInfo& tensor) {
  const auto skipped = model.most_images > 1 && tensor.shape.rank() > 0 ? 1 : 0;
  return {tensor.shape.begin() + skipped, tensor.shape.end()};
}

}  // namespace saccade::serve
