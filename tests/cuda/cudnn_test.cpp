#include "cuda/libraries/cudnn_api.hpp"

#include <dlfcn.h>

#include "op_case/op_case.hpp"
#include "ops/core/tf32.hpp"
#include "runtime/cuda_backend.hpp"

#if __has_include(<cudnn.h>) && __has_include(<cuda_runtime_api.h>)
#include <cudnn.h>
#define SACCADE_HAS_CUDNN_HEADER 1
#endif

namespace saccade {
namespace {

TEST(CudnnApi, HasTheValuesAndLayoutsOfCudnnsHeader) {
#ifdef SACCADE_HAS_CUDNN_HEADER
#define SACCADE_SAME(name) EXPECT_EQ(static_cast<int>(cuda::name), static_cast<int>(::name)) << #name
  SACCADE_SAME(CUDNN_STATUS_SUCCESS);
  SACCADE_SAME(CUDNN_DATA_FLOAT);
  SACCADE_SAME(CUDNN_DATA_HALF);
  SACCADE_SAME(CUDNN_DATA_BFLOAT16);
  SACCADE_SAME(CUDNN_TENSOR_NHWC);
  SACCADE_SAME(CUDNN_DEFAULT_MATH);
  SACCADE_SAME(CUDNN_TENSOR_OP_MATH);
  SACCADE_SAME(CUDNN_FMA_MATH);
  SACCADE_SAME(CUDNN_CROSS_CORRELATION);
  SACCADE_SAME(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
  SACCADE_SAME(CUDNN_ACTIVATION_RELU);
  SACCADE_SAME(CUDNN_ACTIVATION_IDENTITY);
  SACCADE_SAME(CUDNN_PROPAGATE_NAN);
  EXPECT_EQ(sizeof(cuda::cudnnConvolutionFwdAlgoPerf_t), sizeof(::cudnnConvolutionFwdAlgoPerf_t));
  EXPECT_EQ(offsetof(cuda::cudnnConvolutionFwdAlgoPerf_t, memory), offsetof(::cudnnConvolutionFwdAlgoPerf_t, memory));
#else
  GTEST_SKIP() << "needs cudnn.h of cuDNN 9";
#endif
}

TEST(Cudnn, Convolves) {
  if (cuda_backend({}).device_name().find("Emulated") != std::string::npos) GTEST_SKIP() << "needs a GPU";
  if (dlopen("libcudnn.so.9", RTLD_NOW) == nullptr) GTEST_SKIP() << "needs cuDNN 9";
  using Numbers = std::vector<std::int64_t>;
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat32   ? Tolerance{1e-4, 1e-5}
                                : dtype == DType::kFloat16 ? Tolerance{4e-3, 4e-3}
                                                           : Tolerance{4e-2, 2e-2};
    const auto convolution = [&](const Shape& shape, const Shape& filters) {
      OpCase made("Conv");
      made.input(dtype, shape).constant(random_elements(dtype, filters, -1, 1, 5));
      made.constant(random_elements(dtype, {filters[0]}, -1, 1, 6));
      return made;
    };
    const auto check = [&](const OpCase& made) {
      made.check(on_cuda("cudnn.convolution"), tolerance, Layout::kChannelsLast);
    };
    check(convolution({1, 24, 5, 7}, {40, 24, 1, 1}).post("Relu"));
    check(convolution({2, 8, 9, 6}, {16, 8, 3, 3}).attribute("pads", Numbers{1, 1, 1, 1}).post("Silu"));
    check(convolution({1, 32, 8, 11}, {8, 32, 3, 3}).attribute("strides", Numbers{2, 2}).post_with_operand("Add"));
    check(convolution({1, 32, 8, 11}, {8, 32, 3, 3}).post_with_operand("Add").post("Relu"));
    check(convolution({1, 3, 19, 17}, {8, 3, 7, 7}).attribute("pads", Numbers{3, 3, 3, 3}));
    check(convolution({1, 32, 5, 6}, {16, 8, 3, 3}).attribute("group", std::int64_t{4}));
  }
}

}  // namespace
}  // namespace saccade
