#include "pipeline/model/compile.hpp"

#include "base/clock.hpp"
#include "base/cpu_features.hpp"
#include "base/log.hpp"
#include "base/module.hpp"
#include "graph/importer.hpp"
#include "ops/core/values.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/half_range.hpp"
#include "pipeline/model/lowering.hpp"
#include "runtime/tactic_cache.hpp"

namespace saccade {
namespace {

void check_shape_names(const Graph& graph, const ModelOptions& options) {
  for (const auto& [name, shape] : options.shapes) {
    std::string known;
    bool found = false;
    for (ValueId id : graph.inputs()) {
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", graph.value(id).name);
      found = found || graph.value(id).name == name || name.empty();
    }
    if (!found) fail(ErrorCode::kInvalidArgument, "a shape is given for '{}', but the inputs are {}", name, known);
  }
}

PassOptions passes_for(CompileRequest& request, const Backend& backend) {
  const ModelOptions& options = request.options;
  Fp32KeepList keep_fp32 = request.keep_fp32 ? std::move(*request.keep_fp32)
                                             : Fp32KeepList{.values = find_fp32_keep_list(request.graph, options)};
  PassOptions passes = pass_options(options, backend, std::move(keep_fp32));
  passes.precision.half_outputs = request.edges == Edges::kAsComputed;
  return passes;
}

/// Turns float32 inputs into half precision; a Cast widens each.
void narrow_inputs(Graph& graph, DType to) {
  for (const ValueId input : graph.inputs()) {
    const TensorType wide = graph.value(input).type;
    if (wide.dtype != DType::kFloat32 || graph.is_output(input)) continue;
    Patch patch(graph, "are in half precision");
    Node cast{.op = "Cast", .name = graph.value(input).name + "/wide", .inputs = {input}};
    cast.attributes.set("to", onnx_of_dtype(DType::kFloat32));
    patch.replace(input, patch.add_node_with_output(std::move(cast), wide));
    graph.apply(patch);
    graph.value(input).type.dtype = to;
  }
}

void lower(Graph& graph, const PassOptions& passes) {
  if (passes.precision.half && passes.precision.half_outputs) narrow_inputs(graph, *passes.precision.half);
  run_passes(graph, passes);
}

std::shared_ptr<const Plan> build_plan(CompileRequest request, const Backend& backend) {
  const ModelOptions& options = request.options;
  const TacticChoices choices = choices_for(backend, options.threads, request.measured);
  try {
    return Plan::compile(
        std::move(request.graph), backend,
        {.threads = options.threads, .max_memory = options.max_memory, .choices = &choices, .packed = request.packed});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported || options.device.kind != Device::Kind::kCuda || options.fallback)
      throw;
    throw Error(error.code(), suggest_fallback(error));
  }
}

void warn_of_slow_precision(const ModelOptions& options) {
  const bool is_cpu = options.device.kind == Device::Kind::kCpu || options.device.kind == Device::Kind::kAuto;
  if (is_cpu && options.precision == Precision::kBf16 && !cpu_features().multiplies_bf16())
    log(LogLevel::kWarning, "bf16 is slower than fp32 on this processor, which has neither AMX nor AVX512_BF16");
}

void log_plan(const Plan& plan, std::chrono::duration<double, std::milli> took) {
  log(LogLevel::kInfo, "compiled '{}' for {}: {} steps, {:.1f} MB arena, in {:.0f} ms", plan.graph().name,
      plan.backend().device_name(), plan.steps().size(), static_cast<double>(plan.arena_bytes()) / 1e6, took.count());
}

}  // namespace

Graph import_model(const std::string& path, const ModelOptions& options) {
  Graph graph = module<OnnxModule>("onnx").import_model(
      path, {.shapes = options.shapes, .dimensions = options.dimensions, .max_memory = options.max_memory});
  check_shape_names(graph, options);
  return graph;
}

TacticChoices choices_for(const Backend& backend, int threads, const TacticChoices& measured) {
  // Choices are cached only for devices whose tactics have a version.
  TacticChoices choices = backend.kernel_version().empty() ? TacticChoices{} : cached_choices(backend, threads);
  for (const auto& [node, choice] : measured) choices.insert_or_assign(node, choice);
  return choices;
}

std::shared_ptr<const Plan> compile(CompileRequest request) {
  const auto start = Clock::now();
  const Backend& backend = choose_backend(request.options);
  warn_of_slow_precision(request.options);
  lower(request.graph, passes_for(request, backend));
  auto plan = build_plan(std::move(request), backend);
  log_plan(*plan, Clock::now() - start);
  return plan;
}

}  // namespace saccade
