#pragma once

#include <string>

#include "saccade/tensor.hpp"

namespace saccade {

/// Reads a NumPy .npy file (format 1 to 3; numbers, complex numbers and booleans, either byte order). Fortran order
/// is converted to row-major order. Throws Error (kNotFound, kIo, kInvalidFile, kUnsupported) with the file's name.
Tensor load_npy(const std::string& path);

/// Writes TENSOR as a .npy file. NumPy has no bfloat16: such a tensor is written as float32, which is exact. Throws
/// Error (kIo, kUnsupported) with the file's name.
void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace saccade
