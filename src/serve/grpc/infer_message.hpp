#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "grpc_predict_v2.pb.h"
#include "saccade/model.hpp"
#include "serve/region_inputs.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {

/// One inference on raw tensors, as a message asks for it.
struct InferMessage {
  struct Output {
    std::size_t index = 0;               ///< of the model's outputs
    std::optional<RegionTensor> region;  ///< where it is written instead
  };

  /// In the model's order; they point into the message, and are null before `region_inputs` are read.
  std::vector<InputBuffer> inputs;
  std::size_t images = 1;                            ///< of each input
  std::vector<Output> outputs;                       ///< in the order of the response
  std::optional<std::chrono::microseconds> timeout;  ///< for its turn; nullopt: none
  std::vector<std::vector<std::byte>> elements;      ///< of inputs that the message has in a wider type
  RegionInputs region_inputs;
  std::vector<void*> outputs_on_device;  ///< see TensorInput
};

/// Whether it takes microseconds to read REQUEST: all inputs are raw.
bool is_short(const inference::ModelInferRequest& request);

/// The inference by REQUEST, which outlives it. Tensors in shared memory are of REGIONS. Throws Error
/// (kInvalidArgument) in one sentence that names what does not fit MODEL.
InferMessage parse_infer_message(const Signature& model, const MemoryRegions& regions,
                                 const inference::ModelInferRequest& request);

/// The ModelInferResponse to REQUEST, of which PARSED was made, with OUTPUTS in the model's order, which are copied
/// once; writes those that are requested in shared memory to it. Throws Error (kInvalidArgument) if that is not
/// possible.
grpc::ByteBuffer response_to(const Signature& model, const inference::ModelInferRequest& request,
                             const InferMessage& parsed, std::span<const OutputBuffer> outputs);

}  // namespace saccade::serve
