#pragma once

#include <google/protobuf/io/coded_stream.h>

#include "base/memory_budget.hpp"

namespace saccade {

/// Walks the bytes of a ModelProto without parsing it and throws Error (kUnsupported) if the parsed message would not
/// fit BUDGET, from which nothing is taken: two bytes of a file may become a message of two hundred. Stops silently at
/// malformed bytes.
void check_parsed_size(google::protobuf::io::CodedInputStream& stream, const MemoryBudget& budget);
/// The same for a TensorProto.
void check_parsed_tensor_size(google::protobuf::io::CodedInputStream& stream, const MemoryBudget& budget);

}  // namespace saccade
