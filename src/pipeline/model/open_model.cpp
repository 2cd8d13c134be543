#include "pipeline/model/open_model.hpp"

#include "base/log.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/half_range.hpp"
#include "pipeline/model/lowering.hpp"
#include "vision/cards/card_file.hpp"

namespace saccade {
namespace {

ModelOptions completed(ModelOptions options, const PlanFacts& plan) {
  if (!options.shapes.empty() || !options.dimensions.empty())
    fail(ErrorCode::kInvalidArgument, "the shapes of a plan are fixed: compile the model again with --shape");
  if (options.device.kind == Device::Kind::kAuto) options.device = {plan.backend};
  if (options.device.kind != plan.backend)
    fail(ErrorCode::kInvalidArgument, "it was compiled for {}, not for {}: compile it again with --device {}",
         to_string(plan.backend), to_string(options.device.kind), to_string(options.device));
  if (options.precision == Precision::kAuto) options.precision = plan.precision;
  if (options.precision != plan.precision)
    fail(ErrorCode::kInvalidArgument, "it was compiled with the precision {}, not {}: compile it again",
         to_string(plan.precision), to_string(options.precision));
  options.fallback = options.fallback || plan.fallback;
  return options;
}

void drop_keep_lists(PlanFacts& plan) { plan.keep_fp32 = plan.keep_fp32_on_tensors = {}; }

/// Passes the usable parts of the plan to the device and drops the rest.
void take_over(PlanFacts& plan, const ModelOptions& options, const std::string& path) {
  if (disables_passes(options)) drop_keep_lists(plan);
  const Backend& backend = choose_backend(options);
  backend.add_images(std::move(plan.kernels));
  plan.kernels.clear();
  if (plan.device == backend.device_name() && plan.kernel_version == backend.kernel_version()) return;
  const std::string why = plan.device == backend.device_name()
                              ? "by another version of saccade"
                              : fmt::format("on {}, and this is {}", plan.device, backend.device_name());
  log(LogLevel::kWarning,
      "{} was compiled {}: kernels are selected and compiled again (saccade compile updates the plan)", path, why);
  plan.choices.clear();
  plan.packed.clear();
  drop_keep_lists(plan);
}

/// OPTIONS with the device of the plan at PATH for Device::Kind::kAuto; unchanged for an ONNX file.
ModelOptions with_device_of_plan(const std::string& path, ModelOptions options) {
  if (options.device.kind == Device::Kind::kAuto && is_plan_file(path)) options.device = {backend_of_plan(path)};
  return options;
}

}  // namespace

OpenedModel open_model(const std::string& path, const ModelOptions& options) {
  if (!is_plan_file(path)) {
    OpenedModel opened{import_model(path, options), options, {}};
    opened.options.device = choose_device(path, options, [&]() -> const Graph& { return opened.graph; });
    return opened;
  }
  PlanContents contents = load_plan(path, options.max_memory);
  try {
    OpenedModel opened{std::move(contents.graph), completed(options, contents.facts), std::move(contents.facts),
                       std::move(contents.file)};
    take_over(*opened.plan, opened.options, path);
    return opened;
  } catch (const Error& error) {
    throw error.in(path);
  }
}

Card card_of(const Graph& graph, const std::optional<PlanFacts>& plan, const std::string& path,
             const std::string& given) {
  const bool holds_one = plan && !plan->card.empty();
  if (!holds_one || !find_card_file(path, given).empty()) return card_for(graph, path, given);
  return card_in(path, plan->card, graph);
}

Fp32KeepList resolve_fp32_keep_list(const Graph& graph, const Card* card, const ModelOptions& options,
                                    const std::optional<PlanFacts>& plan) {
  if (!plan) return {.values = find_fp32_keep_list(graph, options)};
  const std::optional<ValueNames>& kept = card != nullptr ? plan->keep_fp32 : plan->keep_fp32_on_tensors;
  const bool applies = kept && (card == nullptr || to_toml(*card) == plan->card);
  Fp32KeepList list{.values = applies ? *kept : find_fp32_keep_list(graph, options),
                    .products = plan->keep_for_accuracy};
  if (const std::size_t kept = list.names().size(); kept > 0)
    log(LogLevel::kInfo, "values and products kept in float32 in the graph '{}': {}", graph.name, kept);
  return list;
}

void check_device_of(const std::string& path, const ModelOptions& options) {
  check_device(with_device_of_plan(path, options));
}

ModelOptions with_device_of(const std::string& path, ModelOptions options) {
  options = with_device_of_plan(path, std::move(options));
  Graph graph;
  options.device = choose_device(path, options, [&]() -> const Graph& { return graph = import_model(path, options); });
  return options;
}

}  // namespace saccade
