#include "validate/precision_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "base/kept_files.hpp"
#include "base/processors.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/model_impl.hpp"
#include "runtime/tactic_choices.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKind = "precisions";
// To be increased when choose_precision() decides differently: older decisions are then ignored.
constexpr int kRules = 1;

std::string digest_of(const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.order()) text += node_fingerprint(graph, graph.node(id)) + '\n';
  for (std::size_t i = 0; i < graph.value_count(); ++i)
    if (const Tensor* constant = graph.constant(static_cast<ValueId>(i));
        constant && constant->dtype() != DType::kString)
      text += digest({reinterpret_cast<const char*>(constant->raw()), constant->bytes()}) + '\n';
  return digest(text);
}

/// All that the decision depends on.
std::string name_of(const Model& model) {
  const ModelOptions& options = model.options();
  const Backend& backend = choose_backend(options);
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n", kRules, digest_of(impl_of(model).graph()), backend.name(),
                                 backend.device_name(), backend.kernel_version());
  if (impl_of(model).is_recognised()) text += to_toml(impl_of(model).card());
  text += fmt::format("\n{}\n{}\n{}", options.threads > 0 ? options.threads : available_processors(),
                      options.disabled_passes, options.only_passes.value_or(std::vector<std::string>{"all"}));
  return digest(text) + ".json";
}

}  // namespace

std::optional<RememberedPrecision> remembered_precision(const Model& model) {
  const std::optional<std::string> bytes = kept_file(kKind, name_of(model));
  if (!bytes) return {};
  const Json json = Json::parse(*bytes, nullptr, false);
  // Of another version of saccade: decided again.
  if (!json.is_object() || !json.contains("precision") || !json.contains("why") || !json["why"].is_string()) return {};
  for (const Precision precision : faster_precisions(model.options()))
    if (json["precision"] == to_string(precision)) return RememberedPrecision{precision, json["why"]};
  if (json["precision"] != to_string(Precision::kFp32)) return {};
  return RememberedPrecision{Precision::kFp32, json["why"]};
}

void remember_precision(const Model& model, const PrecisionChoice& choice) {
  keep_file(kKind, name_of(model), Json{{"precision", to_string(choice.precision)}, {"why", choice.why}}.dump());
}

void use_precision(const Model& model, Precision precision) { impl_of(model).use_precision(precision); }

}  // namespace saccade
