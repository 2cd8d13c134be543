#include "serve/region_inputs.hpp"

#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "serve/signature.hpp"
#include "tensor/view.hpp"

namespace saccade::serve {

void RegionInputs::add(std::size_t index, TensorInfo input, RegionTensor tensor) {
  const std::size_t bytes = bytes_of(input.dtype, input.shape);
  if (tensor.bytes != bytes)
    fail(ErrorCode::kInvalidArgument, "the {} of '{}' is {}, not {}", kRegionBytes, input.name, bytes, tensor.bytes);
  inputs_.push_back({.index = index, .info = std::move(input), .tensor = std::move(tensor), .elements = nullptr});
}

bool RegionInputs::read(MemoryRegions& regions, std::span<InputBuffer> inputs) {
  std::size_t bytes = 0;
  for (const Input& input : inputs_) bytes += input.tensor.bytes;
  if (bytes == 0) return true;
  pending_ = regions.reserve(bytes);
  if (pending_ == nullptr) return false;
  for (Input& input : inputs_) {
    input.elements = std::make_unique_for_overwrite<std::byte[]>(input.tensor.bytes);
    const std::span elements(input.elements.get(), input.tensor.bytes);
    input.tensor.region->read(input.tensor.offset, elements);
    check_elements(input.info, {reinterpret_cast<const char*>(elements.data()), elements.size()});
    inputs[input.index].data = elements.data();
  }
  return true;
}

}  // namespace saccade::serve
