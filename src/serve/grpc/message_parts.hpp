#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>

namespace saccade::serve {

/// Of a ModelInferRequest: tensors, parameters, strings, unknown fields. Protobuf makes objects of them, whose size may
/// be a hundred times that of an empty part in the message.
inline constexpr std::size_t kMostParts = 100'000;

/// Whether MESSAGE, a ModelInferRequest that was not read yet, has more parts than that, or a group. What is not valid
/// has fewer: reading it fails.
bool has_too_many_parts(const grpc::ByteBuffer& message);

}  // namespace saccade::serve
