#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace saccade {

/// Element types, named as in ONNX. kFrame is a camera frame: a graph input with a single FrameView element
/// (saccade/frame.hpp).
enum class DType : std::uint8_t {
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat64,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kBool,
  kString,
  kComplex64,
  kComplex128,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0,
  kFloat4E2M1,
  kInt4,
  kUInt4,
  kInt2,
  kUInt2,
  kFrame,
};

/// "float32", "int64", ...
std::string_view to_string(DType dtype);
/// Bits per element (4 for int4, which is packed two per byte, low nibble first).
std::size_t bits_of(DType dtype);

/// The element type of the C++ type T, as its member `value`.
template <typename T>
struct DTypeOf;  // NOLINT: specialised below for every element type
/// @cond
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::kUInt8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::kInt16;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::kUInt16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::kUInt32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::kUInt64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
/// @endcond

/// Up to eight dimensions, outermost first, without heap allocation.
class Shape {
 public:
  /// The most dimensions.
  static constexpr int kMaxRank = 8;

  Shape() = default;
  /// Throws Error (kUnsupported) above kMaxRank dimensions.
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  /// Throws Error (kUnsupported) above kMaxRank dimensions.
  explicit Shape(std::span<const std::int64_t> dims);
  /// A shape of RANK dimensions, all VALUE.
  static Shape filled(int rank, std::int64_t value);

  /// Number of dimensions.
  int rank() const noexcept { return rank_; }
  /// The size of dimension AXIS, from 0 to rank() - 1.
  std::int64_t operator[](int axis) const noexcept { return dims_[static_cast<std::size_t>(axis)]; }
  /// The size of dimension AXIS, from 0 to rank() - 1.
  std::int64_t& operator[](int axis) noexcept { return dims_[static_cast<std::size_t>(axis)]; }
  /// The outermost dimension.
  const std::int64_t* begin() const noexcept { return dims_.data(); }
  /// After the innermost dimension.
  const std::int64_t* end() const noexcept { return dims_.data() + rank_; }
  /// The innermost dimension; the rank must be above 0.
  std::int64_t back() const noexcept { return dims_[static_cast<std::size_t>(rank_ - 1)]; }
  /// Throws Error (kUnsupported) above kMaxRank dimensions.
  void push_back(std::int64_t dim);
  /// Product of all dimensions; 1 for a scalar.
  std::int64_t elements() const noexcept;
  /// "1x3x640x640"; "scalar" for rank 0.
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// A dense row-major array. Copies share the elements (clone() makes a deep copy); the last copy frees them. Elements
/// are aligned to 64 bytes. A kString tensor holds std::string elements.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised elements (zero-length strings for kString).
  Tensor(DType dtype, const Shape& shape);

  /// A tensor whose elements are at ELEMENTS, which it keeps alive: 64-byte aligned, with 64 readable bytes behind
  /// them, not for kString. Throws Error (kInvalidArgument) otherwise.
  static Tensor sharing(DType dtype, const Shape& shape, std::shared_ptr<std::byte> elements);

  /// A tensor with the elements VALUES; their number must match the shape.
  template <typename T>
  static Tensor of(const Shape& shape, std::span<const T> values) {
    Tensor tensor(DTypeOf<T>::value, shape);
    tensor.fill_from(values.data(), values.size() * sizeof(T));
    return tensor;
  }
  /// A tensor with the elements VALUES; their number must match the shape.
  template <typename T>
  static Tensor of(const Shape& shape, std::initializer_list<T> values) {
    return of(shape, std::span<const T>(values.begin(), values.size()));
  }
  /// A tensor of rank 0.
  template <typename T>
  static Tensor scalar(T value) {
    return of<T>(Shape{}, {value});
  }

  /// Whether there are no elements in memory: a default-constructed tensor.
  bool empty() const noexcept { return storage_ == nullptr; }
  /// Element type.
  DType dtype() const noexcept { return dtype_; }
  /// Its dimensions.
  const Shape& shape() const noexcept { return shape_; }
  /// Number of elements.
  std::int64_t elements() const noexcept { return shape_.elements(); }
  /// Size of the elements in memory.
  std::size_t bytes() const noexcept;

  /// The elements as bytes; null if empty().
  std::byte* raw() noexcept { return storage_.get(); }
  /// The elements as bytes; null if empty().
  const std::byte* raw() const noexcept { return storage_.get(); }
  /// The elements; throws Error (kInvalidArgument) if T is not the tensor's type.
  template <typename T>
  std::span<T> data() {
    check(DTypeOf<T>::value);
    return {reinterpret_cast<T*>(raw()), static_cast<std::size_t>(elements())};
  }
  /// The elements; throws Error (kInvalidArgument) if T is not the tensor's type.
  template <typename T>
  std::span<const T> data() const {
    check(DTypeOf<T>::value);
    return {reinterpret_cast<const T*>(raw()), static_cast<std::size_t>(elements())};
  }
  /// The strings of a kString tensor.
  std::span<std::string> strings();
  /// The strings of a kString tensor.
  std::span<const std::string> strings() const;

  /// A deep copy.
  Tensor clone() const;
  /// The same elements with another shape of equal size.
  Tensor reshaped(const Shape& shape) const;

 private:
  void check(DType wanted) const;
  void fill_from(const void* values, std::size_t bytes);

  DType dtype_ = DType::kFloat32;
  Shape shape_;
  std::shared_ptr<std::byte> storage_;
};

}  // namespace saccade
