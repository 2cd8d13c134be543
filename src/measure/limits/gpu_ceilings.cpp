#include "measure/limits/gpu_ceilings.hpp"

#include <algorithm>

namespace saccade {
namespace {

Bandwidth bandwidth_of(const GpuBandwidth& rate, double share) {
  return {share * rate.read, share * rate.write, share * rate.copy, share * rate.copy};
}

}  // namespace

Ceilings ceilings_of(const GpuRates& rates) {
  const double share = 1.0 / std::max(rates.multiprocessors, 1);
  const auto compute = [&](const char* instructions, OperandType precision, double rate) {
    return ComputeCeiling{instructions, precision, share * rate, rate};
  };
  const auto memory = [&](const char* level, std::size_t capacity, const GpuBandwidth& rate) {
    return MemoryCeiling{level, static_cast<std::int64_t>(capacity), bandwidth_of(rate, share), bandwidth_of(rate, 1)};
  };
  Ceilings ceilings{.device = rates.device};
  // fp16 and bf16 have equal rates, and float32 may be multiplied as tf32: the best of them bounds both.
  ceilings.compute = {compute("FMA", OperandType::kFloat32, rates.fp32),
                      compute("mma.sync tf32", OperandType::kFloat32, rates.tf32),
                      compute("mma.sync fp16", OperandType::kBFloat16, rates.fp16),
                      compute("mma.sync bf16", OperandType::kBFloat16, rates.bf16),
                      compute("mma.sync int8", OperandType::kInt8, rates.int8)};
  if (rates.warpgroup_fp16 > 0) {
    ceilings.compute.push_back(compute("wgmma fp16", OperandType::kBFloat16, rates.warpgroup_fp16));
    ceilings.compute.push_back(compute("wgmma bf16", OperandType::kBFloat16, rates.warpgroup_bf16));
  }
  ceilings.memory = {memory("L2", rates.l2_bytes, rates.l2), memory("memory", 0, rates.memory)};
  ceilings.launch = rates.launch;
  ceilings.run = rates.run;
  for (const GpuCopy& copy : rates.copies)
    ceilings.copies.push_back({static_cast<std::int64_t>(copy.bytes), copy.upload, copy.download});
  return ceilings;
}

Ceilings measure_ceilings(const ModelOptions& options, int threads, const std::function<void(double share)>& progress) {
  if (options.device.kind == Device::Kind::kCuda) return ceilings_of(measure_gpu(options.device.ordinal));
  return measure_ceilings(threads, progress);
}

}  // namespace saccade
