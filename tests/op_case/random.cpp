#include "op_case/random.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>

#include "ops/core/dispatch.hpp"

namespace saccade {

Tensor random_elements(DType dtype, const Shape& shape, float low, float high, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> reals(low, high);
  Tensor tensor(dtype, shape);
  if (dtype == DType::kBool) {
    for (std::byte& byte : std::span(tensor.raw(), tensor.bytes())) byte = std::byte(random() % 2);
    return tensor;
  }
  with_number(dtype, [&]<typename T>(std::type_identity<T>) {
    for (T& element : tensor.data<T>()) {
      const float real = reals(random);
      if constexpr (std::is_integral_v<T>) {
        element = static_cast<T>(static_cast<std::int64_t>(std::floor(real)));  // wraps around
      } else {
        element = static_cast<T>(real);
      }
    }
  });
  return tensor;
}

Tensor random_integers(DType dtype, const Shape& shape, int low, int high, std::uint32_t seed) {
  Tensor tensor(dtype, shape);
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> uniform(low, high);
  const std::size_t size = bits_of(dtype) / 8;
  for (std::size_t i = 0; i < tensor.bytes(); i += size) {
    const auto value = static_cast<std::int64_t>(uniform(generator));
    std::memcpy(tensor.raw() + i, &value, size);  // two's complement, low bytes first
  }
  return tensor;
}

int lowest_byte(DType dtype) { return dtype == DType::kUInt8 ? 0 : -128; }
int highest_byte(DType dtype) { return dtype == DType::kUInt8 ? 255 : 127; }

Tensor random_bytes(DType dtype, const Shape& shape, std::uint32_t seed) {
  return random_integers(dtype, shape, lowest_byte(dtype), highest_byte(dtype), seed);
}

Tensor zero_point(DType dtype, int value) { return random_integers(dtype, {}, value, value, 1); }

}  // namespace saccade
