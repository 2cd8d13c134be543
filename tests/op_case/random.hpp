#pragma once

#include <random>

#include "saccade/tensor.hpp"

namespace saccade {

/// Uniform integers, the same in each run.
class RandomSizes {
 public:
  explicit RandomSizes(unsigned seed) : random_(seed) {}
  /// LEAST..MOST, both included.
  std::int64_t operator()(int least, int most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<unsigned>(most - least + 1));
  }

 private:
  std::mt19937 random_;
};

/// Random elements of any numeric type or bool: floats and integers in LOW..HIGH, bools of both values.
Tensor random_elements(DType dtype, const Shape& shape, float low, float high, std::uint32_t seed);
/// Of float32.
inline Tensor random_tensor(const Shape& shape, float low, float high, std::uint32_t seed) {
  return random_elements(DType::kFloat32, shape, low, high, seed);
}
/// Uniform integers LOW..HIGH, both included, of any integer type.
Tensor random_integers(DType dtype, const Shape& shape, int low, int high, std::uint32_t seed);
/// Of all bytes, DTYPE being uint8 or int8.
Tensor random_bytes(DType dtype, const Shape& shape, std::uint32_t seed);
int lowest_byte(DType dtype);
int highest_byte(DType dtype);
/// A scalar.
Tensor zero_point(DType dtype, int value);

}  // namespace saccade
