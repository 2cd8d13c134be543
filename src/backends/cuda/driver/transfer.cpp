#include "cuda/driver/transfer.hpp"

#include <algorithm>
#include <cstddef>

#include "cuda/driver/launch.hpp"
#include "cuda/kernels/launch_sizes.hpp"

namespace saccade::cuda {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{kTransferThreads} * kTransferLoads * 16;
static_assert(offsetof(Copy, row_bytes) == 8 * (kCopyWords - 1));

// Enough to saturate the bus.
constexpr std::size_t kMaxBlocks = 16;

constexpr const char* kSource = R"(#include "transfer.cuh"
extern "C" __global__ void __launch_bounds__(kTransferThreads) transfer_list(const Copy* list) {
  transfer(list);
}
)";

}  // namespace

const Kernel& transfer_kernel(Device& device) { return device.kernel(kSource, "transfer_list"); }

void collect_transfer_image(Device& device, KernelImages& images) {
  const Kernel& kernel = transfer_kernel(device);
  images.try_emplace(kernel.key, *kernel.image);
}

Transfer::Transfer(Device& device, std::size_t copies, std::size_t bytes)
    : count_(copies), blocks_(static_cast<unsigned>(std::clamp<std::size_t>(bytes / kBlockBytes, 1, kMaxBlocks))) {
  if (copies == 0) return;
  function_ = transfer_kernel(device).function;
  device.make_current();
  list_ = make_pinned(copies * sizeof(Copy));
  std::ranges::fill(this->copies(), Copy{});
}

void Transfer::enqueue(CUstream stream) {
  if (count_ == 0) return;
  CUdeviceptr list = address_of(list_.get());
  void* arguments[] = {&list};
  launch(function_, {.blocks = {blocks_, static_cast<unsigned>(count_), 1}, .threads = {kTransferThreads, 1, 1}},
         arguments, stream);
}

}  // namespace saccade::cuda
