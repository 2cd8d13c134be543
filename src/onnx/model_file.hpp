#pragma once

#include <filesystem>

#include "base/memory_budget.hpp"
#include "onnx.pb.h"

namespace saccade {

/// Reads and parses an ONNX file. Throws Error: kNotFound, kIo, kInvalidFile with a guess at what the file is instead,
/// kUnsupported if its contents do not fit BUDGET. The caller adds the path.
onnx::ModelProto read_model_file(const std::filesystem::path& path, const MemoryBudget& budget);

/// Reads a file that holds one tensor. Throws the same errors.
onnx::TensorProto read_tensor_file(const std::filesystem::path& path, const MemoryBudget& budget);

}  // namespace saccade
