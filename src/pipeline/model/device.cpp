#include "pipeline/model/device.hpp"

#include "base/error.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/reference_backend.hpp"

namespace saccade {
namespace {

void check_precision(Precision precision, const Device& device) {
  if (precision == Precision::kAuto || precision == Precision::kFp32 || device.kind == Device::Kind::kCuda) return;
  fail(ErrorCode::kUnsupported, "the precision '{}' needs a GPU (without one, use auto or fp32): the device is {}",
       to_string(precision), to_string(device));
}

}  // namespace

const Backend& choose_backend(const ModelOptions& options) {
  if (options.threads < 0) fail(ErrorCode::kInvalidArgument, "the number of threads {} is invalid", options.threads);
  check_precision(options.precision, options.device);
  switch (options.device.kind) {
    case Device::Kind::kCuda:
      return cuda_backend({.ordinal = options.device.ordinal, .fallback = options.fallback, .graph = options.graph});
    case Device::Kind::kReference: return reference_backend();
    case Device::Kind::kAuto:
    case Device::Kind::kCpu: break;
  }
  return cpu_backend();
}

}  // namespace saccade
