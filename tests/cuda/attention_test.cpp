#include "op_case/attention_case.hpp"
#include "ops/core/tf32.hpp"

namespace saccade {
namespace {

using namespace attention_case;

constexpr Tolerance kSums{.absolute = 2e-5, .relative = 2e-5};
constexpr Tolerance kTf32{.absolute = 2e-3, .relative = 4e-3};
constexpr Tolerance kHalf{.absolute = 2e-3, .relative = 4e-3};
constexpr Tolerance kBrain{.absolute = 2e-2, .relative = 2e-2};

TEST(CudaAttention, MultipliesInFloat) {
  separate({}).check(on_cuda("fused.attention"), kSums);
  separate({.images = 2, .heads = 3, .queries = 37, .keys = 150, .channels = 8, .values = 20})
      .check(on_cuda("fused.attention"), kSums);
  separate({.heads = 1, .queries = 1, .keys = 1, .channels = 1, .values = 1}).check(on_cuda("fused.attention"), kSums);
  separate({.heads = 1, .queries = 70, .keys = 33, .channels = 3, .values = 5})
      .check(on_cuda("fused.attention"), kSums);
}

TEST(CudaAttention, RoundsToTf32) {
  const auto check = [](OpCase made) {
    made.attribute(kTf32Attribute, std::int64_t{1}).check(on_cuda("fused.attention"), kTf32);
  };
  check(separate({.images = 2, .heads = 3, .queries = 37, .keys = 150, .channels = 8, .values = 20}));
  check(separate({.heads = 1, .queries = 70, .keys = 33, .channels = 3, .values = 5}));
  check(separate({.heads = 1, .queries = 40, .keys = 97, .channels = 64, .values = 72}));
  const Lengths lengths{.images = 2, .heads = 2, .queries = 19, .keys = 45};
  OpCase masked = separate(lengths);
  add_mask(masked, lengths, DType::kFloat32);
  check(masked);
}

TEST(CudaAttention, UsesTensorCoresInHalfPrecision) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? kHalf : kBrain;
    separate({}, dtype).check(on_cuda("fused.attention"), tolerance);
    separate({.images = 2, .queries = 50, .keys = 197, .channels = 32, .values = 64}, dtype)
        .check(on_cuda("fused.attention"), tolerance);
    separate({.heads = 1, .queries = 5, .keys = 300, .channels = 80, .values = 24}, dtype)
        .check(on_cuda("fused.attention"), tolerance);
    separate({.heads = 3, .queries = 17, .keys = 9, .channels = 6, .values = 7}, dtype)
        .check(on_cuda("fused.attention"), tolerance);
  }
  separate({.heads = 1, .queries = 3, .keys = 40, .channels = 256, .values = 256}, DType::kFloat16)
      .check(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, TakesManyKeysByWarpgroups) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? kHalf : kBrain;
    // Whole blocks of queries and k-steps, and partial ones; heads of fewer and of more than 64 channels.
    separate({.heads = 1, .queries = 64, .keys = 256, .channels = 64, .values = 64}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.queries = 70, .keys = 331, .channels = 40, .values = 80}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.heads = 1, .queries = 65, .keys = 259, .channels = 128, .values = 8}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.heads = 1, .queries = 64, .keys = 300, .channels = 16, .values = 128}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.heads = 1, .queries = 64, .keys = 260, .channels = 48, .values = 112}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
  }
}

TEST(CudaAttention, TakesManyMaskedKeysByWarpgroups) {
  const Lengths lengths{.heads = 2, .queries = 66, .keys = 270};
  OpCase masked = separate(lengths, DType::kFloat16);
  add_mask(masked, lengths, DType::kFloat16);
  masked.check(on_cuda("warpgroup.attention"), kHalf);
  separate({.queries = 64, .keys = 260}, DType::kFloat16)
      .attribute("scale", -0.7F)
      .check(on_cuda("warpgroup.attention"), kHalf);
}

TEST(CudaAttention, ReadsManyTokensOfOneTensorByWarpgroups) {
  of_one_tensor(1, 256, DType::kFloat16).check(on_cuda("warpgroup.attention"), kHalf);
}

TEST(CudaAttention, AddsMasks) {
  const Lengths lengths{.images = 2, .heads = 2, .queries = 19, .keys = 45};
  for (DType mask : {DType::kFloat32, DType::kFloat16, DType::kFloat64}) {
    OpCase in_float = separate(lengths);
    add_mask(in_float, lengths, mask);
    in_float.check(on_cuda("fused.attention"), kSums);
    OpCase in_half = separate(lengths, DType::kFloat16);
    add_mask(in_half, lengths, mask);
    in_half.check(on_cuda("fused.attention"), kHalf);
  }
}

TEST(CudaAttention, HidesKeysByInfinityAndByTheLowestNumber) {
  hidden_keys(70, DType::kFloat32).check(on_cuda("fused.attention"), kSums);
  hidden_keys(70, DType::kFloat16).check(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, ScalesDownwardsAndByNothing) {
  separate({.keys = 90}).attribute("scale", -0.7F).check(on_cuda("fused.attention"), kSums);
  separate({.keys = 90}, DType::kFloat16).attribute("scale", -0.7F).check(on_cuda("fused.attention"), kHalf);
  separate({}, DType::kFloat16).attribute("scale", 0.0F).check(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, ReadsQueriesKeysAndValuesThatLieInOneTensor) {
  of_one_tensor(2, 21, DType::kFloat32).check(on_cuda("fused.attention"), kSums);
  of_one_tensor(2, 21, DType::kFloat16).check(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, ReadsImagesInEitherLayout) {
  of_images(DType::kFloat32, 4).check_layouts(on_cuda("fused.attention"), kSums);
  of_images(DType::kFloat16, 16).check_layouts(on_cuda("fused.attention"), kHalf);
  of_images(DType::kFloat16, 6).check_layouts(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, ReadsTokensOfWindowsWhereTheyLie) {
  of_windows(DType::kFloat32).check(on_cuda("fused.attention"), kSums);
  of_windows(DType::kFloat16).check(on_cuda("fused.attention"), kHalf);
}

}  // namespace
}  // namespace saccade
