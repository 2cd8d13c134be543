#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace saccade::cpu {

/// One pass of an element-wise operation over COUNT contiguous float32 elements: dst[i] = f(a[i], b[i]). Unary kernels
/// ignore B. DST may be A or B. ALPHA and BETA are the operator's attributes.
using ElementKernel = void (*)(const float* a, const float* b, float* dst, std::size_t count, float alpha, float beta);

/// The operation on two vectors, and on a vector and a scalar.
struct ElementKernels {
  ElementKernel both = nullptr;
  ElementKernel scalar_a = nullptr;
  ElementKernel scalar_b = nullptr;
};

/// The kernels of an ONNX element-wise operator (or "Silu", "GeluTanh", "Square", "Cube", "Power") for this processor;
/// empty if there is none. Unary operators have `both` only.
std::optional<ElementKernels> unary_kernels(std::string_view op);
std::optional<ElementKernels> binary_kernels(std::string_view op);

}  // namespace saccade::cpu
