#pragma once

#include "family_models.hpp"

// Lists of selected objects, for models with separate outputs for boxes, scores and labels.
namespace saccade::test {

/// LABELS of a list of which only the first three are valid.
template <typename T>
Tensor labels(const Shape& shape, std::array<T, 3> values) {
  Tensor tensor(DTypeOf<T>::value, shape);
  std::ranges::fill(tensor.data<T>(), T{1});
  std::ranges::copy(values, tensor.data<T>().begin());
  return tensor;
}

inline Tensor scores(const Shape& shape, float behind = 0) {
  Tensor tensor = filled(shape, behind);
  for (std::size_t i = 0; i < 3; ++i) tensor.data<float>()[i] = kThings[i].score;
  return tensor;
}

inline Tensor boxes(const Shape& shape, std::array<std::size_t, 4> order, float width, float height) {
  Tensor tensor = filled(shape, 0.5F);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      tensor.data<float>()[4 * i + k] = kThings[i].box[order[k]] / (order[k] % 2 == 0 ? width : height);
  return tensor;
}

}  // namespace saccade::test
