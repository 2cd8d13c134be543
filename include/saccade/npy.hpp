#pragma once

#include <string>

#include "saccade/tensor.hpp"

namespace saccade {

/// Reads a NumPy .npy file (format 1 to 3; numbers, complex numbers and booleans, either byte order). Elements in
/// Fortran order are brought into row-major order. Throws Error (kNotFound, kIo, kInvalidFile, kUnsupported) naming
/// the file.
Tensor load_npy(const std::string& path);

/// Writes TENSOR as a .npy file. NumPy has no bfloat16: such a tensor is written as float32, which holds every
/// bfloat16 exactly. Throws Error (kIo, kUnsupported) naming the file.
void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace saccade
