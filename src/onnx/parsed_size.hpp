#pragma once

#include <google/protobuf/io/coded_stream.h>

#include "base/memory_budget.hpp"

namespace saccade {

/// Walks over the bytes of a ModelProto without parsing it and throws Error (kUnsupported) where what protobuf would
/// make of them does not fit BUDGET, of which it takes nothing: two bytes of a file may stand for a message of two
/// hundred. Ends quietly at whatever is no protobuf.
void check_parsed_size(google::protobuf::io::CodedInputStream& stream, const MemoryBudget& budget);
/// The same of a TensorProto.
void check_parsed_tensor_size(google::protobuf::io::CodedInputStream& stream, const MemoryBudget& budget);

}  // namespace saccade
