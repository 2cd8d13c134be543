#pragma once

#include <ostream>

#include "saccade/frame.hpp"
#include "saccade/tensor.hpp"

// GoogleTest prints parameters and operands of failed expectations by these.
namespace saccade {

inline void PrintTo(DType dtype, std::ostream* out) { *out << to_string(dtype); }
inline void PrintTo(PixelFormat format, std::ostream* out) { *out << to_string(format); }

}  // namespace saccade
