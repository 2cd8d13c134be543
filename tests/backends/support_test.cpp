#include "op_case/op_case.hpp"

// What the CPU's tactics leave to others, and what they refuse at run time; tests/operators has what they compute.
namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

Tensor list(const Integers& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Move, LeavesOtherPadsToTheReference) {
  EXPECT_FALSE(OpCase("Pad")
                   .input({1, 3, 5})
                   .constant(list({0, 0, 1, 0, 0, 1}))
                   .attribute("mode", "reflect")
                   .supports(on_cpu("vector.move")));
}

TEST(Gather, NamesAnIndexOutsideItsDimension) {
  try {
    OpCase("Gather").input({3, 5}).input(list({3})).run(on_cpu("vector.gather"));
    FAIL() << "index 3 of 3 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("index 3"), std::string::npos) << error.what();
  }
}

TEST(Gather, LeavesPartsOfRowsToTheReference) {
  EXPECT_FALSE(OpCase("GatherElements")
                   .input({3, 5})
                   .input(Tensor::of<std::int64_t>({1, 2}, {0, 1}))
                   .supports(on_cpu("vector.gather")));
}

TEST(ArgMaxKernel, RefusesIntegers) {
  const Support support =
      OpCase("ArgMax").input(random_integers(DType::kInt64, {4}, 0, 9, 1)).supports(on_cpu("vector.arg_max"));
  EXPECT_NE(support.reason.find("float32"), std::string::npos);
}

TEST(RmsNorm, LeavesScalesThatBroadcastToTheReference) {
  EXPECT_FALSE(OpCase("RMSNormalization").input({3, 7, 50}).constant({1}, -1, 1).supports(on_cpu("vector.layer_norm")));
  // As many numbers as a line has elements, but one for each line.
  EXPECT_FALSE(OpCase("RMSNormalization").input({3, 3}).constant({3, 1}, -1, 1).supports(on_cpu("vector.layer_norm")));
}

TEST(Reduce, RefusesAnOrderThatItCanNotWrite) {
  EXPECT_FALSE(OpCase("ReduceSum").input({2, 7, 6, 5}).constant(list({0, 2})).supports(on_cpu("vector.reduce")));
  // A channels-last sum over rows leaves N, W, C; a row-major output wants N, C, W.
  EXPECT_FALSE(OpCase("ReduceSum")
                   .input({2, 7, 6, 5})
                   .constant(list({2}))
                   .output_layout(Layout::kRowMajor)
                   .supports(on_cpu("vector.reduce"), Layout::kChannelsLast));
}

TEST(Pooling, LeavesFloatsToTheKernelThatKeepsNan) {
  EXPECT_FALSE(OpCase("MaxPool")
                   .input({1, 5, 9, 9})
                   .attribute("kernel_shape", Integers{2, 2})
                   .supports(on_cpu("onednn.pooling")));
}

TEST(Pooling, RefusesIndices) {
  EXPECT_FALSE(OpCase("MaxPool")
                   .input({1, 5, 9, 9})
                   .attribute("kernel_shape", Integers{2, 2})
                   .outputs(2)
                   .supports(on_cpu("vector.max_pool")));
}

TEST(Resize, LeavesChannelsToTheReference) {
  EXPECT_FALSE(OpCase("Resize")
                   .input({1, 4, 6, 6})
                   .absent()
                   .constant(Tensor::of<float>({4}, {1, 2, 1, 1}))
                   .supports(on_cpu("vector.resize")));
}

TEST(RoiAlign, RefusesAnImageThatIsNotThere) {
  OpCase wrong("RoiAlign");
  wrong.input({1, 4, 5, 5}).input(Tensor::of<float>({1, 4}, {0, 0, 2, 2})).input(list({1}));
  EXPECT_THROW(wrong.run(on_cpu("vector.roi_align")), Error);
}

TEST(RoiAlign, LeavesTheLargestToTheReference) {
  EXPECT_FALSE(OpCase("RoiAlign")
                   .input({2, 19, 13, 17})
                   .input(Tensor::of<float>({1, 4}, {2, 1, 9, 7}))
                   .input(list({0}))
                   .attribute("output_height", std::int64_t{3})
                   .attribute("output_width", std::int64_t{5})
                   .attribute("sampling_ratio", std::int64_t{2})
                   .attribute("mode", "max")
                   .supports(on_cpu("vector.roi_align")));
}

TEST(MatMul, RefusesChannelsLast) {
  EXPECT_FALSE(OpCase("MatMul")
                   .input({2, 5, 7})
                   .constant({7, 9}, -1, 1)
                   .supports(on_cpu("onednn.matmul"), Layout::kChannelsLast));
}

TEST(Gemm, LeavesAMatrixOfBiasesToTheReference) {
  EXPECT_FALSE(
      OpCase("Gemm").input({5, 7}).constant({7, 9}, -1, 1).constant({5, 9}, -1, 1).supports(on_cpu("onednn.matmul")));
}

}  // namespace
}  // namespace saccade
