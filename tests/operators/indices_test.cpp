#include <limits>

#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

Tensor indices(const Shape& shape, std::int64_t dim, std::uint32_t seed = 5) {
  return random_elements(DType::kInt64, shape, static_cast<float>(-dim), static_cast<float>(dim), seed);
}

/// A permutation of all indices.
Tensor permutation(std::int64_t count) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < count; ++i) order.push_back((i * 7 + 3) % count);
  return Tensor::of<std::int64_t>({count}, order);
}

OpCase top_k(Tensor tensor, std::int64_t k, std::int64_t axis = -1, bool largest = true) {
  OpCase made("TopK");
  made.input(std::move(tensor)).constant(Tensor::of<std::int64_t>({1}, {k})).outputs(2);
  made.attribute("axis", axis).attribute("largest", std::int64_t{largest ? 1 : 0});
  return made;
}

SACCADE_EVERY_BACKEND(Gather);
SACCADE_EVERY_BACKEND(OneHot);
SACCADE_EVERY_BACKEND(Scatter);
SACCADE_EVERY_BACKEND(TopK);

TEST_P(Gather, CopiesBlocks) {
  for (std::int64_t axis : {0, 1, 2})
    OpCase("Gather")
        .input({3, 5, 7})
        .input(Tensor::of<std::int64_t>({2, 2}, {0, -1, 2, -3}))
        .attribute("axis", axis)
        .check(by("vector.gather", "gather"), kExact);
  OpCase("Gather").input({3, 5}).constant(Tensor::scalar<std::int64_t>(-1)).check(by("vector.gather", "gather"));
  OpCase("Gather").input({3, 5}).input(Tensor(DType::kInt64, {0})).check(by("vector.gather", "gather"));
}

TEST_P(Gather, TakesWholeRowsOfElements) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kInt64, DType::kBool})
    for (const std::int64_t axis : {0, 1, -1}) {
      Shape taken{4, 5, 6};
      taken[static_cast<int>(axis < 0 ? axis + 3 : axis)] = 9;
      OpCase("GatherElements")
          .input(dtype, {4, 5, 6})
          .input(indices(taken, 4))
          .attribute("axis", axis)
          .check(by("vector.gather", "gather"), kExact);
    }
  OpCase("GatherElements")
      .input({7, 3})
      .input(random_elements(DType::kInt32, {2, 3}, -7, 6, 3))
      .check(by("vector.gather", "gather"), kExact);
}

TEST_P(Gather, TakesBlocksAndElements) {
  for (std::int64_t axis : {0, 1, 2})
    OpCase("Gather").input({4, 5, 6}).input(indices({3, 2}, 4)).attribute("axis", axis).check(by("", "gather"), kExact);
  OpCase("Gather")
      .input(DType::kBool, {7})
      .input(random_elements(DType::kInt32, {}, 0, 6, 3))
      .check(by("", "gather"), kExact);
  OpCase("GatherElements")
      .input({4, 5, 6})
      .input(indices({4, 3, 6}, 5))
      .attribute("axis", std::int64_t{1})
      .check_layouts(by("", "gather"), kExact);
  OpCase("GatherND").input({4, 5, 6}).input(indices({3, 2}, 4)).check(by("", "gather"), kExact);
  OpCase("GatherND")
      .input(DType::kFloat16, {2, 5, 6, 3})
      .input(indices({2, 4, 1}, 5))
      .attribute("batch_dims", std::int64_t{1})
      .check(by("", "gather"), kExact);
}

TEST_P(OneHot, SetsOneElement) {
  for (std::int64_t axis : {-1, 0, 1})
    OpCase("OneHot")
        .input(Tensor::of<std::int64_t>({2, 3}, {0, 4, -1, 7, -9, 2}))
        .constant(Tensor::scalar<std::int64_t>(5))
        .constant(Tensor::of<float>({2}, {-1, 3}))
        .attribute("axis", axis)
        .check(by("", "one_hot"), kExact);
}

TEST_P(Scatter, ReplacesElementsAndBlocks) {
  OpCase("ScatterElements").input({10}).input(permutation(10)).input({10}).check(by("", "scatter"), kExact);
  OpCase("ScatterElements")
      .input({4, 5, 3})
      .input(Tensor::of<std::int64_t>({1, 2, 3}, {0, -1, 2, 3, 1, 1}))
      .input({1, 2, 3})
      .attribute("axis", std::int64_t{1})
      .check_layouts(by("", "scatter"), kExact);
  OpCase("ScatterND")
      .input({5, 6})
      .input(Tensor::of<std::int64_t>({2, 1}, {3, -5}))
      .input({2, 6})
      .check(by("", "scatter"), kExact);
  OpCase("ScatterND")
      .input(DType::kInt8, {5, 6}, -9, 9)
      .input(Tensor::of<std::int32_t>({2, 2}, {3, 1, 0, 5}))
      .input(DType::kInt8, {2}, -9, 9)
      .check(by("", "scatter"), kExact);
}

TEST_P(Scatter, CombinesUpdates) {
  for (const char* reduction : {"add", "mul", "max", "min"})
    for (DType dtype : {DType::kFloat32, DType::kInt64, DType::kUInt8, DType::kFloat16})
      OpCase("ScatterElements")
          .input(dtype, {9}, 0, 4)
          .input(indices({30}, 9))
          .input(dtype, {30}, 0, 2)
          .attribute("reduction", std::string(reduction))
          .check(by("", "scatter"), dtype == DType::kFloat16 ? Tolerance{0.1, 2e-2} : Tolerance{});
}

TEST_P(TopK, SortsWhatItTakes) {
  top_k(random_elements(DType::kFloat32, {3, 1000}, -2, 2, 1), 37).check(by("vector.top_k", "top_k"), kExact);
  top_k(random_elements(DType::kFloat32, {2, 300}, -2, 2, 1), 300, -1, false)
      .check(by("vector.top_k", "top_k"), kExact);
  top_k(random_elements(DType::kFloat32, {2, 5, 6, 4}, -2, 2, 1), 3, 1).check(by("vector.top_k", "top_k"), kExact);
  top_k(random_elements(DType::kFloat32, {2, 5, 6, 4}, -2, 2, 1), 3, 1).check_layouts(by("", "top_k"), kExact);
  top_k(random_elements(DType::kFloat16, {1, 5000}, -2, 2, 1), 1).check(by("", "top_k"), kExact);
}

TEST_P(TopK, PrefersTheFirstOfEqualOnes) {
  for (DType dtype : {DType::kInt32, DType::kUInt8, DType::kFloat32, DType::kUInt32}) {
    const Tensor tensor = random_elements(dtype, {2, 700}, 0, 9, 1);
    top_k(tensor, 100).check(by("", "top_k"), kExact);
    top_k(tensor, 100, -1, false).check(by("", "top_k"), kExact);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor odd = Tensor::of<float>({7}, {0.0F, -0.0F, nan, -1, -nan, 3, INFINITY});
  top_k(odd, 6).check(by("vector.top_k", "top_k"), kExact);
  top_k(odd, 6, -1, false).check(by("vector.top_k", "top_k"), kExact);
}

}  // namespace
}  // namespace saccade
