#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "saccade/model.hpp"
#include "serve/memory_regions.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {

/// The inputs of a request that are in shared memory.
class RegionInputs {
 public:
  /// Input number INDEX, which is like INPUT, is in TENSOR. Throws Error (kInvalidArgument) if that has another size.
  void add(std::size_t index, TensorInfo input, RegionTensor tensor);
  /// Has INPUTS point to them. What lies on MODEL's GPU is used there. Else the elements, which must be valid, are
  /// copied; false if REGIONS have no room for that now. Throws Error: (kInvalidArgument), (kDevice) if a GPU fails.
  bool read(const Signature& model, MemoryRegions& regions, std::span<InputBuffer> inputs);

 private:
  struct Input {
    std::size_t index = 0;
    TensorInfo info;
    RegionTensor tensor;
    std::unique_ptr<std::byte[]> elements;
  };
  std::vector<Input> inputs_;
  PendingBytes pending_;  ///< of the copies
};

/// Before the response to REQUEST is sent: its client may then free its memory.
void release_regions(auto& request) {
  request.region_inputs = {};
  for (auto& output : request.outputs) output.region.reset();
}

/// Throws Error (kInvalidArgument) if two outputs of MODEL are to be written to the same bytes of a region. OUTPUTS of
/// a request have `index` and `region`.
void check_apart(const Signature& model, const auto& outputs) {
  for (auto first = outputs.begin(); first != outputs.end(); ++first)
    for (auto second = std::next(first); second != outputs.end(); ++second)
      if (first->region && second->region && overlap(*first->region, *second->region))
        fail(ErrorCode::kInvalidArgument, "'{}' and '{}' overlap in the region '{}'", model.outputs[first->index].name,
             model.outputs[second->index].name, first->region->region->info().name);
}

/// Where MODEL writes the output INDEX on its GPU, if it is to be in TENSOR; null: on the host.
void* output_on_device(const Signature& model, std::size_t index, const std::optional<RegionTensor>& tensor);

/// The same for each output of MODEL, in OUTPUTS as above. Empty: all are on the host.
std::vector<void*> outputs_on_device(const Signature& model, const auto& outputs) {
  std::vector<void*> addresses;
  if (!model.gpu) return addresses;
  addresses.resize(model.outputs.size());
  for (const auto& output : outputs) addresses[output.index] = output_on_device(model, output.index, output.region);
  return addresses;
}

}  // namespace saccade::serve
