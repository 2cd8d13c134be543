#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_module.hpp"
#include "saccade/model.hpp"
#include "serve/region_inputs.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {

/// The header with the length of the JSON in a body that has binary tensors.
inline constexpr std::string_view kJsonLength = "Inference-Header-Content-Length";

/// One inference on raw tensors, as the Open Inference Protocol (KServe v2) asks for it.
struct InferRequest {
  struct Output {
    std::size_t index = 0;  ///< of the model's outputs
    bool is_binary = false;
    std::optional<RegionTensor> region;  ///< where it is written instead
  };

  std::string id;  ///< the client's; empty: none
  /// In the model's order; they point into `body` and `elements`, and are null before `region_inputs` are read.
  std::vector<InputBuffer> inputs;
  std::size_t images = 1;                            ///< of each input
  std::vector<Output> outputs;                       ///< in the order of the response
  std::optional<std::chrono::microseconds> timeout;  ///< for its turn; nothing: none
  std::string body;                                  ///< of the HTTP request
  std::vector<std::vector<std::byte>> elements;      ///< of inputs that came as JSON
  RegionInputs region_inputs;
  std::vector<void*> outputs_on_device;  ///< see TensorInput
};

/// The request in REQUEST's body: JSON, followed by binary tensors if the header Inference-Header-Content-Length says
/// how long it is. Tensors in shared memory are of REGIONS. Throws Error (kInvalidArgument) in one sentence that names
/// what does not fit MODEL.
InferRequest parse_infer_request(const Signature& model, const MemoryRegions& regions, HttpRequest request);

/// The response to REQUEST, with OUTPUTS in the model's order; writes those that are requested in shared memory to it.
/// Throws Error (kInvalidArgument) if that is not possible.
HttpReply infer_reply(const Signature& model, const InferRequest& request, std::span<const OutputBuffer> outputs);

}  // namespace saccade::serve
