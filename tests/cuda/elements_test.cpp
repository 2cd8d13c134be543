#include "op_case/op_case.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

constexpr Tolerance kElementHalf{.absolute = 2e-3, .relative = 2e-3};

TEST(CudaElements, ApplyFunctions) {
  for (const char* op :
       {"Abs",  "Ceil", "Cos",  "Elu",   "Erf",  "Exp",     "Floor", "HardSigmoid", "HardSwish", "LeakyRelu",
        "Mish", "Neg",  "Relu", "Round", "Selu", "Sigmoid", "Sign",  "Sin",         "Softplus",  "Tanh"})
    OpCase(op).input({2, 3, 5, 7}).check_layouts(on_cuda("elements"));
  for (const char* op : {"Log", "Sqrt", "Reciprocal"}) OpCase(op).input({1000}, 0.5F, 9).check(on_cuda("elements"));
  OpCase("Silu", "saccade").input({3, 300}).check(on_cuda("elements"));
}

TEST(CudaElements, ComputeHalfPrecisionInFloat) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? kElementHalf : Tolerance{1e-2, 1e-2};
    OpCase("Sigmoid").input(dtype, {3, 100}).check(on_cuda("elements"), tolerance);
    OpCase("Add").input(dtype, {3, 100}).input(dtype, {100}).check(on_cuda("elements"), tolerance);
  }
}

TEST(CudaElements, Broadcast) {
  OpCase("Add").input({2, 3, 4, 5}).input({3, 1, 5}).check_layouts(on_cuda("elements"));
  OpCase("Mul").input({1, 5}).input({4, 1}).check(on_cuda("elements"));
  OpCase("Div").input({2, 1, 3}).constant({1}, 1, 2).check(on_cuda("elements"));
  OpCase("Max").input({4, 5}).input({5}).input({4, 1}).check(on_cuda("elements"));
  OpCase("Where").input(DType::kBool, {4, 1}).input({5}).input({4, 5}).check(on_cuda("elements"));
  OpCase("Pow").input({4, 5}, 0.1F, 2).constant({1}).check(on_cuda("elements"));
}

TEST(CudaElements, KeepNumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor odd = Tensor::of<float>({6}, {nan, inf, -inf, -0.0F, 1, -1});
  for (const char* op : {"Relu", "Sign", "Clip", "Abs"}) OpCase(op).input(odd).check(on_cuda("elements"));
  OpCase("Max").input(odd).input(Tensor::of<float>({6}, {1, nan, nan, 0, nan, 2})).check(on_cuda("elements"));
  OpCase("Cast").attribute("to", std::int64_t{3}).input(odd).check(on_cuda("elements"));
  OpCase("IsNaN").input(odd).check(on_cuda("elements"));
}

TEST(CudaElements, WrapIntegers) {
  const Tensor a = Tensor::of<std::int8_t>({6}, {127, -128, -128, 7, -7, 0});
  const Tensor b = Tensor::of<std::int8_t>({6}, {1, 1, -1, 0, 3, 5});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Less", "Equal"})
    OpCase(op).input(a).input(b).check(on_cuda("elements"));
  OpCase("Add").input(DType::kInt64, {4, 5}, -9, 9).input(DType::kInt64, {5}, -9, 9).check(on_cuda("elements"));
}

TEST(CudaElements, CastAsOnnxDoes) {
  const Tensor reals = Tensor::of<float>({7}, {1e20F, -1e20F, 2.7F, -2.7F, 0, 255.5F, 1e-9F});
  for (std::int64_t to : {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 16})
    OpCase("Cast").attribute("to", to).input(reals).check(on_cuda("elements"), {1e-3, 1e-2});
  OpCase("Cast").attribute("to", std::int64_t{1}).input(DType::kInt64, {50}, -1000, 1000).check(on_cuda("elements"));
}

TEST(CudaElements, AreFollowedByPostOps) {
  OpCase("Add")
      .input({2, 8, 4, 4})
      .input({8, 1, 1})
      .post("Silu")
      .post_with_operand("Mul")
      .post("Clip", -0.5F, 0.5F)
      .check_layouts(on_cuda("elements"));
}

TEST(CudaMoves, TakeElementsFromWhereTheReferenceDoes) {
  OpCase("Transpose")
      .input({2, 3, 4, 5})
      .attribute("perm", std::vector<std::int64_t>{0, 2, 3, 1})
      .check_layouts(on_cuda("moves"));
  OpCase("Concat").input({2, 3, 4}).input({2, 5, 4}).attribute("axis", std::int64_t{1}).check_layouts(on_cuda("moves"));
  OpCase("Slice")
      .input({4, 9})
      .constant(Tensor::of<std::int64_t>({2}, {-1, 1}))
      .constant(Tensor::of<std::int64_t>({2}, {-9, 8}))
      .constant(Tensor::of<std::int64_t>({2}, {0, 1}))
      .constant(Tensor::of<std::int64_t>({2}, {-2, 3}))
      .check(on_cuda("moves"));
  OpCase("Split")
      .input({2, 6, 3, 3})
      .constant(Tensor::of<std::int64_t>({2}, {2, 4}))
      .attribute("axis", std::int64_t{1})
      .outputs(2)
      .check_layouts(on_cuda("moves"));
  OpCase("Pad")
      .input({1, 2, 3, 3})
      .constant(Tensor::of<std::int64_t>({8}, {0, 0, 1, 2, 0, 1, 0, -1}))
      .constant(Tensor::of<float>({}, {7}))
      .check_layouts(on_cuda("moves"));
  OpCase("Pad")
      .input({5})
      .constant(Tensor::of<std::int64_t>({2}, {2, 3}))
      .attribute("mode", std::string("reflect"))
      .check(on_cuda("moves"));
  OpCase("Expand").input({3, 1}).constant(Tensor::of<std::int64_t>({3}, {2, 3, 4})).check(on_cuda("moves"));
  OpCase("Tile").input({2, 3}).constant(Tensor::of<std::int64_t>({2}, {2, 2})).check(on_cuda("moves"));
  OpCase("Gather").input({5, 4}).constant(Tensor::of<std::int64_t>({3}, {4, -5, 1})).check(on_cuda("moves"));
  OpCase("DepthToSpace").input({1, 8, 2, 3}).attribute("blocksize", std::int64_t{2}).check_layouts(on_cuda("moves"));
  OpCase("Trilu").input(DType::kInt64, {4, 4}).check(on_cuda("moves"));
  OpCase("Transpose").input(DType::kFloat16, {7, 5}).check(on_cuda("moves"));
}

TEST(CudaFallback, RunsReferenceKernelsInTheGraph) {
  OpCase("Softmax").input({4, 9}).check(on_cuda("host"));
  OpCase("Gather").input({5, 4}).input(Tensor::of<std::int64_t>({2}, {1, 3})).check(on_cuda("host"));
}

}  // namespace
}  // namespace saccade
