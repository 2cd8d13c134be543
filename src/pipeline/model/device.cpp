#include "pipeline/model/device.hpp"

#include <charconv>

#include "base/error.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/reference_backend.hpp"

namespace saccade {
namespace {

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
  const bool gpu_only = precision == "fp16" || precision == "bf16" || precision == "tf32";
  if (precision == "auto" || precision == "fp32" || (gpu_only && on_gpu)) return;
  fail(ErrorCode::kUnsupported, "the precision '{}' is not implemented yet{}: use auto{} or fp32", precision,
       gpu_only ? " for this device" : "", on_gpu ? ", fp16, bf16, tf32" : "");
}

}  // namespace

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

}  // namespace saccade
