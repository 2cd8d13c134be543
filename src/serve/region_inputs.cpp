#include "serve/region_inputs.hpp"

#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "serve/signature.hpp"
#include "tensor/view.hpp"

namespace saccade::serve {
namespace {

bool is_on_gpu_of(const Signature& model, const RegionTensor& tensor) {
  return model.gpu && tensor.region->info().gpu == model.gpu;
}

}  // namespace

void RegionInputs::add(std::size_t index, TensorInfo input, RegionTensor tensor) {
  const std::size_t bytes = bytes_of(input.dtype, input.shape);
  if (tensor.bytes != bytes)
    fail(ErrorCode::kInvalidArgument, "the {} of '{}' is {}, not {}", kRegionBytes, input.name, bytes, tensor.bytes);
  inputs_.push_back({.index = index, .info = std::move(input), .tensor = std::move(tensor), .elements = nullptr});
}

bool RegionInputs::read(const Signature& model, MemoryRegions& regions, std::span<InputBuffer> inputs) {
  std::size_t bytes = 0;
  for (const Input& input : inputs_) {
    // Kernels take for granted that a bool is 0 or 1.
    if (is_on_gpu_of(model, input.tensor) && input.info.dtype != DType::kBool) {
      inputs[input.index].data = input.tensor.region->on_device() + input.tensor.offset;
      inputs[input.index].on_device = true;
    } else {
      bytes += input.tensor.bytes;
    }
  }
  if (bytes == 0) return true;
  pending_ = regions.reserve(bytes);
  if (pending_ == nullptr) return false;
  for (Input& input : inputs_) {
    if (inputs[input.index].on_device) continue;
    input.elements = std::make_unique_for_overwrite<std::byte[]>(input.tensor.bytes);
    const std::span elements(input.elements.get(), input.tensor.bytes);
    input.tensor.region->read(input.tensor.offset, elements);
    check_elements(input.info, {reinterpret_cast<const char*>(elements.data()), elements.size()});
    inputs[input.index].data = elements.data();
  }
  return true;
}

void* output_on_device(const Signature& model, std::size_t index, const std::optional<RegionTensor>& tensor) {
  if (!tensor || !is_on_gpu_of(model, *tensor)) return nullptr;
  const TensorInfo& output = model.outputs[index];
  // The size of the output may be smaller, and fit.
  if (bytes_of(output.dtype, output.shape) > tensor->bytes) return nullptr;
  return tensor->region->on_device() + tensor->offset;
}

}  // namespace saccade::serve
