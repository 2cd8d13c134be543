#include "validate/precision_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "base/kept_files.hpp"
#include "base/processors.hpp"
#include "base/utf8.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/model_impl.hpp"
#include "runtime/tactic_choices.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKind = "precisions";
// To be increased when choose_precision() decides differently: older decisions are then ignored.
constexpr int kRules = 2;

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
  if (!json.is_object()) return {};
  try {
    std::vector<Precision> possible = faster_precisions(model.options());
    possible.push_back(Precision::kFp32);
    for (const Precision precision : possible)
      if (json.at("precision") == to_string(precision))
        return RememberedPrecision{{precision, json.at("stay_float32").get<NodeNames>()}, json.at("why")};
  } catch (const Json::exception&) {  // another version's
  }
  return {};
}

void remember_precision(const Model& model, const PrecisionChoice& choice) {
  const Json json{{"precision", to_string(choice.decided.precision)},
                  {"stay_float32", choice.decided.keep_fp32},
                  {"why", choice.why}};
  // Names in another encoding could not be found again.
  if (!std::ranges::all_of(choice.decided.keep_fp32, is_utf8)) return;
  keep_file(kKind, name_of(model), json.dump());
}

void use_precision(const Model& model, const DecidedPrecision& decided) { impl_of(model).use_precision(decided); }

}  // namespace saccade
