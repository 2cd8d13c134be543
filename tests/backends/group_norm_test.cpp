#include "op_case/normalizations.hpp"

namespace saccade {
namespace {

constexpr Tolerance kClose{.absolute = 4e-6, .relative = 1e-5};

TEST(InstanceNorm, OfPlanesThatThreadsShare) {
  instance_norm({1, 3, 190, 201}).check_layouts(on_cpu("vector.group_norm"), kClose);
  instance_norm({3, 1, 190, 201}).check_layouts(on_cpu("vector.group_norm"), kClose);
  instance_norm({3, 32, 64, 65}).check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(GroupNorm, RunsOnTwoThreadsAtOnce) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kChannelsLast})
    group_norm({1, 32, 30, 31}, 8).check_two_threads(on_cpu("vector.group_norm"), layout, kClose);
}

TEST(GroupNorm, DeclinesOtherTypesAndAChangeOfLayout) {
  EXPECT_FALSE(OpCase("InstanceNormalization")
                   .input(Tensor(DType::kFloat64, {1, 3, 4}))
                   .constant(Tensor(DType::kFloat64, {3}))
                   .constant(Tensor(DType::kFloat64, {3}))
                   .supports(on_cpu("vector.group_norm")));
  EXPECT_FALSE(instance_norm({1, 3, 4, 5})
                   .output_layout(Layout::kRowMajor)
                   .supports(on_cpu("vector.group_norm"), Layout::kChannelsLast));
}

}  // namespace
}  // namespace saccade
