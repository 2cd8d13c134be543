#include "pipeline/model/compile.hpp"

#include <algorithm>
#include <charconv>

#include "base/log.hpp"
#include "base/module.hpp"
#include "graph/importer.hpp"
#include "ops/core/values.hpp"
#include "pipeline/model/half_range.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/reference_backend.hpp"
#include "runtime/tactic_cache.hpp"

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
    if (!found) fail(ErrorCode::kInvalidArgument, "a shape is given for '{}', but the inputs are {}", name, known);
  }
}

bool is_cuda(std::string_view device) { return device == "cuda" || device.starts_with("cuda:"); }

/// N of "cuda:N"; 0 for "cuda".
int cuda_ordinal(std::string_view device) {
  if (device == "cuda") return 0;
  const std::string_view number = device.substr(device.find(':') + 1);
  int ordinal = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  if (error != std::errc() || end != number.data() + number.size() || ordinal < 0)
    fail(ErrorCode::kInvalidArgument, "'{}' is not a GPU: use cuda or cuda:N", device);
  return ordinal;
}

void check_precision(const std::string& precision, bool on_gpu) {
  const bool gpu_alone = precision == "fp16" || precision == "bf16" || precision == "tf32";
  if (precision == "auto" || precision == "fp32" || (gpu_alone && on_gpu)) return;
  fail(ErrorCode::kUnsupported, "the precision '{}' is not implemented yet{}: use auto{} or fp32", precision,
       gpu_alone ? " for this device" : "", on_gpu ? ", fp16, bf16, tf32" : "");
}

/// The half-precision type that float32 is narrowed to; nullopt for none.
std::optional<DType> narrowed(const std::string& precision) {
  if (precision == "fp16") return DType::kFloat16;
  if (precision == "bf16") return DType::kBFloat16;
  return {};
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

std::shared_ptr<const Plan> compile_plan(Graph graph, const Backend& backend, const ModelOptions& options,
                                         const TacticChoices& measured) {
  const TacticChoices choices = choices_for(backend, measured);
  try {
    return Plan::compile(std::move(graph), backend,
                         {.threads = options.threads, .max_memory = options.max_memory, .choices = &choices});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported || !is_cuda(options.device) || options.fallback) throw;
    throw Error(error.code(), fmt::format("{} (--fallback cpu runs such nodes on the host)", error.what()));
  }
}

}  // namespace

TacticChoices choices_for(const Backend& backend, const TacticChoices& measured) {
  // Choices are cached only for devices whose tactics have a version.
  TacticChoices choices = backend.kernel_version().empty() ? TacticChoices{} : cached_choices(backend);
  for (const auto& [node, choice] : measured) choices.insert_or_assign(node, choice);
  return choices;
}

Graph import_model(const std::string& path, const ModelOptions& options) {
  Graph graph = module<OnnxModule>("onnx").import_model(
      path, {.shapes = options.shapes, .dimensions = options.dimensions, .max_memory = options.max_memory});
  check_shape_names(graph, options);
  return graph;
}

std::optional<int> gpu_of(const ModelOptions& options) {
  if (!is_cuda(options.device)) return {};
  return cuda_ordinal(options.device);
}

const Backend& choose_backend(const ModelOptions& options) {
  if (options.threads < 0) fail(ErrorCode::kInvalidArgument, "the number of threads {} is invalid", options.threads);
  const bool on_gpu = is_cuda(options.device);
  check_precision(options.precision, on_gpu);
  if (on_gpu)
    return cuda_backend(
        {.ordinal = cuda_ordinal(options.device), .fallback = options.fallback, .graph = options.graph});
  if (options.device != "auto" && options.device != "cpu" && options.device != "reference")
    fail(ErrorCode::kUnsupported, "the device '{}' is not known: use auto, cpu, cuda, cuda:N or reference",
         options.device);
  return options.device == "reference" ? reference_backend() : cpu_backend();
}

PassOptions pass_options(const ModelOptions& options, const Backend& backend) {
  PassOptions passes;
  if (options.only_passes) passes.disabled = passes_except({options.only_passes->begin(), options.only_passes->end()});
  passes.disabled.insert(options.disabled_passes.begin(), options.disabled_passes.end());
  passes.max_memory = options.max_memory;
  passes.layout_rules = [&backend](const Graph& graph, const Node& node) { return backend.layout_rule({graph, node}); };
  passes.fuses = [&backend](const Graph& graph, const Node& node) { return backend.fuses({graph, node}); };
  passes.runs = [&backend](const Graph& graph, const Node& node) {
    return std::ranges::any_of(backend.tactics(), [&](const Tactic* tactic) {
      return tactic->competes() && tactic->supports({graph, node}).yes;
    });
  };
  passes.widen_halves = !backend.computes_halves();
  passes.allow_tf32 = options.precision == "tf32";
  passes.fuses_attention = backend.fuses_attention();
  passes.narrow_to = narrowed(options.precision);
  return passes;
}

bool leaves_passes_out(const ModelOptions& options) { return options.only_passes || !options.disabled_passes.empty(); }

ValueNames stays_wide(const Graph& graph, const ModelOptions& options) {
  return narrowed(options.precision) == DType::kFloat16 ? values_past_halves(graph, options) : ValueNames();
}

std::shared_ptr<const Plan> compile(Graph graph, const ModelOptions& options, const TacticChoices& measured,
                                    Edges edges, const ValueNames* stay_wide) {
  const auto start = std::chrono::steady_clock::now();
  const Backend& backend = choose_backend(options);
  PassOptions passes = pass_options(options, backend);
  passes.stay_wide = stay_wide == nullptr ? stays_wide(graph, options) : *stay_wide;
  passes.narrow_outputs = edges == Edges::kAsComputed;
  if (passes.narrow_to && edges == Edges::kAsComputed) narrow_inputs(graph, *passes.narrow_to);
  run_passes(graph, passes);
  auto plan = compile_plan(std::move(graph), backend, options, measured);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  log(LogLevel::kInfo, "compiled '{}' for {}: {} steps, {:.1f} MB arena, in {:.0f} ms", plan->graph().name,
      backend.device_name(), plan->steps().size(), static_cast<double>(plan->arena_bytes()) / 1e6, took.count());
  return plan;
}

}  // namespace saccade
