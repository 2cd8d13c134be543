#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saccade/model.hpp"

namespace saccade::serve {

/// What a request has to fit.
struct Signature {
  std::string name;  ///< the model's
  // For one image.
  std::span<const TensorInfo> inputs;
  std::span<const TensorInfo> outputs;
  /// The most images of a request, along the first dimension of the only input. 1: shapes are exactly those of the
  /// inputs.
  std::size_t most_images = 1;
  /// The dimension of each output along which its images lie; nullopt: it has none. Empty: most_images is 1.
  std::vector<std::optional<int>> image_axes = {};
  /// The GPU that reads inputs and writes outputs in its own memory; nullopt: all are on the host.
  std::optional<int> gpu = std::nullopt;
};

/// What a message quotes of the client's own TEXT.
std::string brief(std::string_view text);

/// Where the tensor NAME is in INFOS; KIND says what they are, "input" or "output". Throws Error (kInvalidArgument)
/// with their names.
std::size_t find_tensor(std::span<const TensorInfo> infos, std::string_view name, const char* kind);

/// The tensors of a model that a request names. KIND is as in find_tensor(). Its functions throw Error
/// (kInvalidArgument).
class NamedTensors {
 public:
  NamedTensors(std::span<const TensorInfo> infos, const char* kind);

  /// As find_tensor(); throws if NAME was added before.
  std::size_t add(std::string_view name);
  /// Throws naming a tensor that was not added.
  void check_complete() const;

 private:
  std::span<const TensorInfo> infos_;
  const char* kind_;
  std::vector<bool> is_named_;
};

/// Throws Error (kInvalidArgument) if BYTES, of which INPUT has as many, are not its elements: one of BOOL is 0 or 1.
void check_elements(const TensorInfo& input, std::string_view bytes);

/// INPUT of MODEL with the shape that a request gives it: for one image or several. Throws Error (kInvalidArgument) if
/// DATATYPE, its name in the protocol (empty: missing), or SHAPE does not fit.
TensorInfo requested_input(const Signature& model, const TensorInfo& input, std::string_view datatype,
                           std::span<const std::int64_t> shape);

/// The shape of a tensor in the model's metadata: -1 for the dimension of images, if a request may have several.
std::vector<std::int64_t> described_shape(const Signature& model, const TensorInfo& tensor, std::optional<int> axis);

}  // namespace saccade::serve
