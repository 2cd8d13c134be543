#include "pipeline/compile.hpp"

#include "base/log.hpp"
#include "base/module.hpp"
#include "graph/importer.hpp"
#include "runtime/reference_backend.hpp"

namespace saccade {
namespace {

void check_shape_names(const Graph& graph, const ModelOptions& options) {
  for (const auto& [name, shape] : options.shapes) {
    std::string known;
    bool found = false;
    for (ValueId id : graph.inputs()) {
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", graph.value(id).name);
      found = found || graph.value(id).name == name;
    }
    if (!found) fail(ErrorCode::kInvalidArgument, "a shape is given for '{}', but its inputs are {}", name, known);
  }
}

}  // namespace

Graph import_model(const std::string& path, const ModelOptions& options) {
  Graph graph = module<OnnxModule>("onnx").import_model(
      path, {.shapes = options.shapes, .dimensions = options.dimensions, .max_memory = options.max_memory});
  check_shape_names(graph, options);
  return graph;
}

const Backend& choose_backend(const ModelOptions& options) {
  if (options.device != "auto" && options.device != "cpu" && options.device != "reference")
    fail(ErrorCode::kUnsupported, "the device '{}' is not built yet: use auto, cpu or reference", options.device);
  if (options.precision != "auto" && options.precision != "fp32")
    fail(ErrorCode::kUnsupported, "the precision '{}' is not built yet: use auto or fp32", options.precision);
  if (options.threads < 0) fail(ErrorCode::kInvalidArgument, "{} threads make no sense", options.threads);
  return options.device == "reference" ? reference_backend() : cpu_backend();
}

PassOptions pass_options(const ModelOptions& options, const Backend& backend) {
  PassOptions passes;
  if (options.only_passes) passes.disabled = passes_except({options.only_passes->begin(), options.only_passes->end()});
  passes.disabled.insert(options.disabled_passes.begin(), options.disabled_passes.end());
  passes.max_memory = options.max_memory;
  passes.layout_rules = [&backend](const Graph& graph, const Node& node) { return backend.layout_rule({graph, node}); };
  passes.widen_halves = !backend.computes_halves();
  return passes;
}

std::shared_ptr<const Plan> compile(Graph graph, const ModelOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Backend& backend = choose_backend(options);
  run_passes(graph, pass_options(options, backend));
  auto plan = Plan::compile(std::move(graph), backend, {.threads = options.threads, .max_memory = options.max_memory});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  log(LogLevel::kInfo, "compiled '{}' for {}: {} steps, {:.1f} MB arena, in {:.0f} ms", plan->graph().name,
      backend.device_name(), plan->steps().size(), static_cast<double>(plan->arena_bytes()) / 1e6, took.count());
  return plan;
}

}  // namespace saccade
