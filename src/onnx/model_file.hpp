#pragma once

#include <filesystem>

#include "base/memory_budget.hpp"
#include "onnx.pb.h"

namespace saccade {

/// Reads and parses an ONNX file. Throws Error (kNotFound, kIo, kInvalidFile) saying what the file is instead, and
/// kUnsupported where what it holds does not fit BUDGET; the caller adds the path.
onnx::ModelProto read_model_file(const std::filesystem::path& path, const MemoryBudget& budget);

/// Reads a file that holds one tensor. Throws the same.
onnx::TensorProto read_tensor_file(const std::filesystem::path& path, const MemoryBudget& budget);

}  // namespace saccade
