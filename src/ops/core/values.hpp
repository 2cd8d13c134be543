#pragma once

#include <span>
#include <vector>

#include "base/error.hpp"
#include "tensor/view.hpp"

namespace saccade {

/// The type with ONNX's number (Cast's "to"). Throws Error (kUnsupported) on unknown ones.
DType dtype_of_onnx(std::int64_t number);
/// The inverse. Throws Error (kUnsupported) on Saccade's own types.
std::int64_t onnx_of_dtype(DType dtype);

/// The elements of an int32 or int64 tensor; empty for a view without data (an omitted input). Throws Error
/// (kInvalidFile) on other types.
std::vector<std::int64_t> integers_of(const TensorView& view);
/// The same elements in place, without allocation: for kernels. The view's owner must outlive it.
class Indices {
 public:
  Indices() = default;
  explicit Indices(const TensorView& view);
  explicit Indices(std::span<const std::int64_t> values) : wide_(values.data()), size_(values.size()) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](std::size_t i) const { return wide_ != nullptr ? wide_[i] : narrow_[i]; }

 private:
  const std::int64_t* wide_ = nullptr;
  const std::int32_t* narrow_ = nullptr;
  std::size_t size_ = 0;
};

/// A numeric scalar (or tensor of one element) as a double. Throws Error (kInvalidFile) on anything else.
double real_of(const TensorView& view);

/// Checked sum and product of dimensions. Throw Error (kUnsupported) on overflow.
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);

}  // namespace saccade
