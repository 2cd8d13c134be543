#include "saccade/tensor.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "base/error.hpp"
#include "tensor/view.hpp"

namespace saccade {
namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte> allocate(DType dtype, const Shape& shape) {
  const std::size_t bytes = bytes_of(dtype, shape);
  // Vector kernels may read up to one vector past the end, without using it.
  auto* memory = static_cast<std::byte*>(::operator new(bytes + 64, kAlignment));
  if (dtype != DType::kString) return {memory, [](std::byte* p) { ::operator delete(p, kAlignment); }};
  const auto count = static_cast<std::size_t>(shape.elements());
  auto* strings = reinterpret_cast<std::string*>(memory);
  std::uninitialized_default_construct_n(strings, count);
  return {memory, [strings, count](std::byte* p) {
            std::destroy_n(strings, count);
            ::operator delete(p, kAlignment);
          }};
}

}  // namespace

std::size_t bytes_of(DType dtype, const Shape& shape) {
  // Dimensions of 0 must not hide an overflow of the others: callers multiply parts of a shape.
  std::uint64_t extent = 1;
  bool none = false;
  for (std::int64_t dim : shape) {
    if (dim < 0) fail(ErrorCode::kInvalidArgument, "a tensor can't have the shape {}", shape.to_string());
    none = none || dim == 0;
    if (__builtin_mul_overflow(extent, std::max<std::uint64_t>(static_cast<std::uint64_t>(dim), 1), &extent) ||
        extent > (std::uint64_t{1} << 48))
      fail(ErrorCode::kUnsupported, "a tensor of shape {} is too large", shape.to_string());
  }
  return none ? 0 : static_cast<std::size_t>((extent * bits_of(dtype) + 7) / 8);
}

Tensor::Tensor(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape), storage_(allocate(dtype, shape)) {}

Tensor Tensor::sharing(DType dtype, const Shape& shape, std::shared_ptr<std::byte> elements) {
  if (dtype == DType::kString) fail(ErrorCode::kInvalidArgument, "a tensor of strings can't share its elements");
  if (elements == nullptr || reinterpret_cast<std::uintptr_t>(elements.get()) % static_cast<std::size_t>(kAlignment))
    fail(ErrorCode::kInvalidArgument, "the elements that a tensor shares are not aligned to 64 bytes");
  static_cast<void>(bytes_of(dtype, shape));
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = shape;
  tensor.storage_ = std::move(elements);
  return tensor;
}

std::size_t Tensor::bytes() const noexcept {
  return empty() ? 0 : (static_cast<std::size_t>(elements()) * bits_of(dtype_) + 7) / 8;
}

std::span<std::string> Tensor::strings() {
  check(DType::kString);
  return {reinterpret_cast<std::string*>(raw()), static_cast<std::size_t>(elements())};
}

std::span<const std::string> Tensor::strings() const {
  check(DType::kString);
  return {reinterpret_cast<const std::string*>(raw()), static_cast<std::size_t>(elements())};
}

Tensor Tensor::clone() const {
  if (empty()) return {};
  Tensor copy(dtype_, shape_);
  if (dtype_ == DType::kString)
    std::ranges::copy(strings(), copy.strings().begin());
  else
    std::memcpy(copy.raw(), raw(), bytes());
  return copy;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.elements() != elements())
    fail(ErrorCode::kInvalidArgument, "{} elements of shape {} can't be given the shape {}", elements(),
         shape_.to_string(), shape.to_string());
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

void Tensor::check(DType wanted) const {
  if (wanted != dtype_)
    fail(ErrorCode::kInvalidArgument, "a {} tensor was read as {}", saccade::to_string(dtype_),
         saccade::to_string(wanted));
}

void Tensor::fill_from(const void* values, std::size_t size) {
  if (size != bytes())
    fail(ErrorCode::kInvalidArgument, "{} bytes were given for a {} tensor of shape {}", size,
         saccade::to_string(dtype_), shape_.to_string());
  if (size != 0) std::memcpy(raw(), values, size);
}

}  // namespace saccade
