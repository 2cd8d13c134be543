#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.resize");
constexpr Tolerance kClose{.absolute = 1e-5, .relative = 1e-5};

Tensor scales(float height, float width) { return Tensor::of<float>({4}, {1, 1, height, width}); }

struct Mode {
  const char* mode;
  const char* coordinates;
};

class ResizeTest : public testing::TestWithParam<Mode> {};

TEST_P(ResizeTest, GrowsAndShrinksInBothLayouts) {
  for (const auto& [height, width] : {std::pair{2.0F, 2.0F}, {1.5F, 2.3F}, {0.5F, 0.7F}, {1.0F, 3.0F}})
    OpCase("Resize")
        .input({2, 19, 9, 11})
        .absent()
        .constant(scales(height, width))
        .attribute("mode", GetParam().mode)
        .attribute("coordinate_transformation_mode", GetParam().coordinates)
        .check_layouts(kTactic, kClose);
}

INSTANTIATE_TEST_SUITE_P(Modes, ResizeTest,
                         testing::Values(Mode{"nearest", "asymmetric"}, Mode{"nearest", "half_pixel"},
                                         Mode{"linear", "half_pixel"}, Mode{"linear", "align_corners"},
                                         Mode{"linear", "pytorch_half_pixel"}, Mode{"linear", "asymmetric"},
                                         Mode{"cubic", "half_pixel"}));

TEST(Resize, ToASize) {
  OpCase("Resize")
      .input({1, 3, 10, 10})
      .absent()
      .absent()
      .constant(Tensor::of<std::int64_t>({4}, {1, 3, 17, 4}))
      .attribute("mode", "linear")
      .post("Relu")
      .check_layouts(kTactic, kClose);
}

TEST(Resize, LeavesChannelsToTheReference) {
  EXPECT_FALSE(
      OpCase("Resize").input({1, 4, 6, 6}).absent().constant(Tensor::of<float>({4}, {1, 2, 1, 1})).supports(kTactic));
}

}  // namespace
}  // namespace saccade
