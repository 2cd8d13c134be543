#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "calls.hpp"
#include "driver/driver_functions.hpp"
#include "driver/module.hpp"
#include "driver/state.hpp"
#include "execution/grid.hpp"

// Kernel launches: argument checks, argument capture, and execution.
namespace saccade::emulator {
namespace {

// Portable maximum of a cluster.
constexpr unsigned kMostClusterBlocks = 8;

/// A launch, kept until it runs, and as long as a graph that contains it.
struct Launched {
  std::shared_ptr<LoadedObject> object;
  const saccade_emulator::Entry* entry = nullptr;
  Grid grid;
  std::vector<std::vector<unsigned char>> values;

  CUdeviceptr pointer(std::size_t index) const {
    CUdeviceptr address = 0;
    if (entry->parameters[index].pointer) std::memcpy(&address, values[index].data(), sizeof address);
    return address;
  }
};

CUresult run(Launched& launched) {
  const auto& entry = *launched.entry;
  note_kernel(entry.name);
  for (unsigned i = 0; i < entry.count; ++i) {
    const CUdeviceptr address = launched.pointer(i);
    if (address == 0 || is_device_memory(address, 0)) continue;
    std::fprintf(stderr, "emulator: kernel %s: its parameter number %u points into no memory of the device's\n",
                 entry.name, i);
    return break_device(CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  if (entry.call == nullptr) return CUDA_SUCCESS;  // kernels are not built
  std::vector<void*> arguments;
  for (auto& value : launched.values) arguments.push_back(value.data());
  const bool waited = run_grid(launched.object->object(), entry, launched.grid, arguments.data());
  for (unsigned i = 0; i < entry.count; ++i)
    if (launched.pointer(i) != 0) expect_guards(launched.pointer(i), entry.name);
  if (launched.grid.overlaps && !waited) {
    std::fprintf(stderr, "emulator: kernel %s may overlap the one before it, and does not wait for it\n", entry.name);
    return break_device(CUDA_ERROR_LAUNCH_FAILED);
  }
  return CUDA_SUCCESS;
}

CUresult check(const CUlaunchConfig& config, const CUfunc_st& function) {
  for (unsigned size :
       {config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX, config.blockDimY, config.blockDimZ})
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (config.gridDimX > 0x7FFFFFFF || config.gridDimY > 0xFFFF || config.gridDimZ > 0xFFFF)
    return CUDA_ERROR_INVALID_VALUE;
  if (config.blockDimX > 1024 || config.blockDimY > 1024 || config.blockDimZ > 64) return CUDA_ERROR_INVALID_VALUE;
  const unsigned threads = config.blockDimX * config.blockDimY * config.blockDimZ;
  if (threads > 1024) return CUDA_ERROR_INVALID_VALUE;
  if (function.entry->most_threads != 0 && threads > function.entry->most_threads)
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (static_cast<long long>(config.sharedMemBytes) > function.dynamic_bytes) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult check_cluster(const Grid& grid) {
  const auto& cluster = grid.cluster;
  const unsigned size = cluster.x * cluster.y * cluster.z;
  if (size == 0) return kInvalidClusterSize;
  if (size > 1 && capability() < 90) return kNotSupported;
  if (size > kMostClusterBlocks) return kInvalidClusterSize;
  const bool divides =
      grid.blocks.x % cluster.x == 0 && grid.blocks.y % cluster.y == 0 && grid.blocks.z % cluster.z == 0;
  return divides ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace
}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  SACCADE_BEGIN(cuLaunchKernelEx, Needs::kContext);
  const CUfunc_st* found = find_function(function);
  if (found == nullptr) return kInvalidHandle;
  if (extra != nullptr) return kNotSupported;
  if (arguments == nullptr && found->entry->count > 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check(*config, *found); result != CUDA_SUCCESS) return result;

  auto launched = std::make_shared<Launched>();
  launched->object = found->object;
  launched->entry = found->entry;
  launched->grid = {.blocks = {config->gridDimX, config->gridDimY, config->gridDimZ},
                    .threads = {config->blockDimX, config->blockDimY, config->blockDimZ},
                    .cluster = found->entry->cluster,
                    .shared_bytes = config->sharedMemBytes};
  for (const CUlaunchAttribute& attribute : std::span(config->attrs, config->numAttrs)) {
    const auto& cluster = attribute.value.clusterDim;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      launched->grid.cluster = {cluster.x, cluster.y, cluster.z};
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      launched->grid.overlaps = attribute.value.programmaticStreamSerializationAllowed != 0 && capability() >= 90;
  }
  if (const CUresult result = check_cluster(launched->grid); result != CUDA_SUCCESS) return result;
  for (unsigned i = 0; i < found->entry->count; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(arguments[i]);
    launched->values.emplace_back(bytes, bytes + found->entry->parameters[i].bytes);
    if (found->entry->parameters[i].writes) note_work_on(launched->pointer(i));
  }
  return enqueue(config->hStream, [launched] { return run(*launched); });
}

}  // namespace saccade::cuda
