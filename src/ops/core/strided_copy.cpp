#include "ops/core/strided_copy.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "ops/core/strided.hpp"

namespace saccade {
namespace {

using Loop = StridedLoop<2>;

/// Opaque elements of SIZE bytes.
template <std::size_t kSize>
void copy_bytes(const Loop& loop, const Strided& source, const Strided& target) {
  constexpr auto kBytes = static_cast<std::int64_t>(kSize);
  const auto* from = static_cast<const std::byte*>(source.data);
  auto* to = static_cast<std::byte*>(target.data);
  loop.run({source.offset, target.offset}, [&](const Loop::Steps& at, std::int64_t count, const Loop::Steps& step) {
    const std::byte* read = from + at[0] * kBytes;
    std::byte* write = to + at[1] * kBytes;
    if (step[0] == 1 && step[1] == 1) {
      std::memcpy(write, read, static_cast<std::size_t>(count) * kSize);
      return;
    }
    for (std::int64_t k = 0; k < count; ++k)
      std::memcpy(write + k * step[1] * kBytes, read + k * step[0] * kBytes, kSize);
  });
}

void copy_strings(const Loop& loop, const Strided& source, const Strided& target) {
  const auto* from = static_cast<const std::string*>(source.data);
  auto* to = static_cast<std::string*>(target.data);
  loop.run({source.offset, target.offset}, [&](const Loop::Steps& at, std::int64_t count, const Loop::Steps& step) {
    for (std::int64_t k = 0; k < count; ++k) to[at[1] + k * step[1]] = from[at[0] + k * step[0]];
  });
}

/// Elements of 2 or 4 bits, the first one in a byte's lowest bits.
void copy_packed(int bits, const Loop& loop, const Strided& source, const Strided& target) {
  const auto* from = static_cast<const std::uint8_t*>(source.data);
  auto* to = static_cast<std::uint8_t*>(target.data);
  const std::int64_t in_byte = 8 / bits;
  const auto mask = static_cast<unsigned>((1 << bits) - 1);
  loop.run({source.offset, target.offset}, [&](const Loop::Steps& at, std::int64_t count, const Loop::Steps& step) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t i = at[0] + k * step[0];
      const std::int64_t j = at[1] + k * step[1];
      const unsigned value = (from[i / in_byte] >> (i % in_byte * bits)) & mask;
      const auto shift = static_cast<int>(j % in_byte) * bits;
      to[j / in_byte] = static_cast<std::uint8_t>((to[j / in_byte] & ~(mask << shift)) | (value << shift));
    }
  });
}

}  // namespace

void strided_copy(DType dtype, const Shape& extent, const Strided& source, const Strided& target) {
  SACCADE_ASSERT(source.strides.rank() == extent.rank() && target.strides.rank() == extent.rank());
  const Loop loop(extent, {source.strides, target.strides});
  if (dtype == DType::kString) return copy_strings(loop, source, target);
  switch (bits_of(dtype)) {
    case 8: return copy_bytes<1>(loop, source, target);
    case 16: return copy_bytes<2>(loop, source, target);
    case 32: return copy_bytes<4>(loop, source, target);
    case 64: return copy_bytes<8>(loop, source, target);
    case 128: return copy_bytes<16>(loop, source, target);
    case 4:
    case 2: return copy_packed(static_cast<int>(bits_of(dtype)), loop, source, target);
    default: fail(ErrorCode::kUnsupported, "{} elements can't be moved", to_string(dtype));
  }
}

void fill_with(const TensorView& target, const TensorView& value) {
  const Strided one{value.data, 0, Shape::filled(target.shape.rank(), 0)};
  strided_copy(target.dtype, target.shape, one, strided(target));
}

void fill_with_zero(const TensorView& target) {
  if (target.dtype == DType::kString) {
    std::fill_n(static_cast<std::string*>(target.data), target.elements(), std::string());
  } else if (target.bytes() != 0) {
    std::memset(target.data, 0, target.bytes());
  }
}

}  // namespace saccade
