#include "op_case/op_case.hpp"

namespace saccade {
namespace {

Tensor indices(const Shape& shape, std::int64_t dim, std::uint32_t seed = 5) {
  return random_elements(DType::kInt64, shape, static_cast<float>(-dim), static_cast<float>(dim), seed);
}

TEST(CudaGather, TakesBlocksAndElements) {
  for (std::int64_t axis : {0, 1, 2})
    OpCase("Gather")
        .input({4, 5, 6})
        .input(indices({3, 2}, 4))
        .attribute("axis", axis)
        .check(on_cuda("gather"), kExact);
  OpCase("Gather")
      .input(DType::kBool, {7})
      .input(random_elements(DType::kInt32, {}, 0, 6, 3))
      .check(on_cuda("gather"), kExact);
  OpCase("GatherElements")
      .input({4, 5, 6})
      .input(indices({4, 3, 6}, 5))
      .attribute("axis", std::int64_t{1})
      .check_layouts(on_cuda("gather"), kExact);
  OpCase("GatherND").input({4, 5, 6}).input(indices({3, 2}, 4)).check(on_cuda("gather"), kExact);
  OpCase("GatherND")
      .input(DType::kFloat16, {2, 5, 6, 3})
      .input(indices({2, 4, 1}, 5))
      .attribute("batch_dims", std::int64_t{1})
      .check(on_cuda("gather"), kExact);
}

TEST(CudaOneHot, SetsOneElement) {
  for (std::int64_t axis : {-1, 0, 1})
    OpCase("OneHot")
        .input(Tensor::of<std::int64_t>({2, 3}, {0, 4, -1, 7, -9, 2}))
        .constant(Tensor::scalar<std::int64_t>(5))
        .constant(Tensor::of<float>({2}, {-1, 3}))
        .attribute("axis", axis)
        .check(on_cuda("one_hot"), kExact);
}

/// A permutation of all indices.
Tensor permutation(std::int64_t count) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < count; ++i) order.push_back((i * 7 + 3) % count);
  return Tensor::of<std::int64_t>({count}, order);
}

TEST(CudaScatter, ReplacesElementsAndBlocks) {
  OpCase("ScatterElements").input({10}).input(permutation(10)).input({10}).check(on_cuda("scatter"), kExact);
  OpCase("ScatterElements")
      .input({4, 5, 3})
      .input(Tensor::of<std::int64_t>({1, 2, 3}, {0, -1, 2, 3, 1, 1}))
      .input({1, 2, 3})
      .attribute("axis", std::int64_t{1})
      .check_layouts(on_cuda("scatter"), kExact);
  OpCase("ScatterND")
      .input({5, 6})
      .input(Tensor::of<std::int64_t>({2, 1}, {3, -5}))
      .input({2, 6})
      .check(on_cuda("scatter"), kExact);
  OpCase("ScatterND")
      .input(DType::kInt8, {5, 6}, -9, 9)
      .input(Tensor::of<std::int32_t>({2, 2}, {3, 1, 0, 5}))
      .input(DType::kInt8, {2}, -9, 9)
      .check(on_cuda("scatter"), kExact);
}

TEST(CudaScatter, CombinesUpdates) {
  for (const char* reduction : {"add", "mul", "max", "min"})
    for (DType dtype : {DType::kFloat32, DType::kInt64, DType::kUInt8, DType::kFloat16})
      OpCase("ScatterElements")
          .input(dtype, {9}, 0, 4)
          .input(indices({30}, 9))
          .input(dtype, {30}, 0, 2)
          .attribute("reduction", std::string(reduction))
          .check(on_cuda("scatter"), dtype == DType::kFloat16 ? Tolerance{0.1, 2e-2} : Tolerance{});
}

OpCase top_k(Tensor tensor, std::int64_t k, std::int64_t axis = -1, bool largest = true) {
  OpCase made("TopK");
  made.input(std::move(tensor)).constant(Tensor::of<std::int64_t>({1}, {k})).outputs(2);
  made.attribute("axis", axis).attribute("largest", std::int64_t{largest ? 1 : 0});
  return made;
}

TEST(CudaTopK, SortsWhatItTakes) {
  top_k(random_elements(DType::kFloat32, {3, 1000}, -2, 2, 1), 37).check(on_cuda("top_k"), kExact);
  top_k(random_elements(DType::kFloat32, {2, 300}, -2, 2, 1), 300, -1, false).check(on_cuda("top_k"), kExact);
  top_k(random_elements(DType::kFloat32, {2, 5, 6, 4}, -2, 2, 1), 3, 1).check_layouts(on_cuda("top_k"), kExact);
  top_k(random_elements(DType::kFloat16, {1, 5000}, -2, 2, 1), 1).check(on_cuda("top_k"), kExact);
}

TEST(CudaTopK, PrefersTheFirstOfEqualOnes) {
  for (DType dtype : {DType::kInt32, DType::kUInt8, DType::kFloat32, DType::kUInt32}) {
    const Tensor tensor = random_elements(dtype, {2, 700}, 0, 9, 1);
    top_k(tensor, 100).check(on_cuda("top_k"), kExact);
    top_k(tensor, 100, -1, false).check(on_cuda("top_k"), kExact);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor odd = Tensor::of<float>({7}, {0.0F, -0.0F, nan, -1, -nan, 3, INFINITY});
  top_k(odd, 6).check(on_cuda("top_k"), kExact);
  top_k(odd, 6, -1, false).check(on_cuda("top_k"), kExact);
}

}  // namespace
}  // namespace saccade
