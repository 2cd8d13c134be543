#include "pipeline/model/device.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/model/lowering.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/plan.hpp"
#include "runtime/reference_backend.hpp"

namespace saccade {
namespace {

/// Why a GPU is not used; empty if it is.
struct Refusal {
  std::string why;
  LogLevel level = LogLevel::kInfo;

  explicit operator bool() const { return !why.empty(); }
};

const Backend& gpu_backend(const ModelOptions& options) {
  return cuda_backend({.ordinal = options.device.ordinal, .fallback = options.fallback, .graph = options.graph});
}

Refusal open_gpu() {
  if (!has_cuda_driver()) return {"there is no CUDA driver"};
  try {
    cuda_backend({});
    check_cuda_compiler();
    return {};
  } catch (const Error& error) {
    return {error.what(), error.code() == ErrorCode::kNotFound ? LogLevel::kInfo : LogLevel::kWarning};
  }
}

/// Whether the first GPU can be used at all. Determined once: all models must agree, and a driver may take seconds.
const Refusal& find_gpu() {
  static const Refusal found = open_gpu();
  return found;
}

/// Whether the first GPU has a kernel for every node of GRAPH.
Refusal find_kernels(Graph graph, const ModelOptions& options) {
  const Backend& backend = gpu_backend(options);
  run_passes(graph, pass_options(options, backend));
  try {
    Plan::check(std::move(graph), backend, {.threads = options.threads, .max_memory = options.max_memory});
    return {};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    return {suggest_fallback(error), LogLevel::kWarning};
  }
}

/// WHY the device is not a GPU.
void check_precision_without_gpu(const ModelOptions& options, const std::string& why) {
  const Precision precision = options.precision;
  if (precision == Precision::kAuto || precision == Precision::kFp32) return;
  const bool computes_bf16 = options.device.kind != Device::Kind::kReference;
  if (computes_bf16 && precision == Precision::kBf16) return;
  fail(ErrorCode::kUnsupported, "the precision '{}' needs a GPU (without one, use {}): {}", to_string(precision),
       computes_bf16 ? "auto, fp32 or bf16" : "auto or fp32", why);
}

}  // namespace

const Backend& choose_backend(const ModelOptions& options) {
  if (options.threads < 0) fail(ErrorCode::kInvalidArgument, "the number of threads {} is invalid", options.threads);
  if (options.device.kind == Device::Kind::kCuda) return gpu_backend(options);
  check_precision_without_gpu(options, fmt::format("the device is {}", to_string(options.device)));
  return options.device.kind == Device::Kind::kReference ? reference_backend() : cpu_backend();
}

void check_device(const ModelOptions& options) {
  if (options.device.kind == Device::Kind::kAuto) {
    const Refusal& refusal = find_gpu();
    if (!refusal) return;
    check_precision_without_gpu(options, refusal.why);
  }
  choose_backend(options);
}

Device choose_device(const std::string& name, const ModelOptions& options, const std::function<const Graph&()>& graph) {
  if (options.device.kind != Device::Kind::kAuto) return options.device;
  Refusal refusal = find_gpu();
  if (!refusal) refusal = find_kernels(graph(), options);
  if (!refusal) {
    log(LogLevel::kInfo, "{}: it runs on {}", name, gpu_backend(options).device_name());
    return Device::cuda();
  }
  check_precision_without_gpu(options, refusal.why);
  log(refusal.level, "{}: it runs on the CPU: {}", name, refusal.why);
  return Device::cpu();
}

std::string suggest_fallback(const Error& error) {
  return fmt::format("{} (--fallback cpu runs such nodes on the host)", error.what());
}

}  // namespace saccade
