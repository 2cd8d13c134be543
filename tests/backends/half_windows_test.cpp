#include <algorithm>
#include <limits>

#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

constexpr On kDepthwise = on_cpu("bf16.depthwise");
constexpr On kMaxPool = on_cpu("bf16.max_pool");
constexpr Tolerance kClose{.absolute = 2e-2, .relative = 2e-2};
using Integers = std::vector<std::int64_t>;

void check(const OpCase& windows, const On& on, Tolerance tolerance = kClose) {
  windows.in(DType::kBFloat16).check(on, tolerance, Layout::kChannelsLast);
}

OpCase& add_window(OpCase& made, RandomSizes& any) {
  return made.attribute("strides", Integers{any(1, 3), any(1, 2)})
      .attribute("dilations", Integers{any(1, 2), any(1, 2)})
      .attribute("pads", Integers{any(0, 1), any(0, 1), any(0, 1), any(0, 1)});
}

TEST(HalfDepthwise, OfRandomSizes) {
  RandomSizes any(7);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t channels = any(1, 100);
    OpCase made("Conv");
    made.input({any(1, 2), channels, any(8, 20), any(8, 50)})
        .constant({channels, 1, any(2, 4), any(2, 3)}, -1, 1)
        .attribute("group", channels);
    if (round % 3 == 0)
      made.absent();
    else
      made.constant({channels}, -1, 1);
    add_window(made, any);
    if (round % 2 == 0) made.post("Silu");
    if (round % 4 == 0) made.post_with_operand("Add");
    check(made, kDepthwise, {.absolute = 5e-2, .relative = 2e-2});
  }
}

TEST(HalfDepthwise, OnTwoThreads) {
  OpCase("Conv")
      .input({1, 70, 60, 70})
      .constant({70, 1, 3, 3}, -1, 1)
      .attribute("group", std::int64_t{70})
      .attribute("pads", Integers{1, 1, 1, 1})
      .post("Relu")
      .in(DType::kBFloat16)
      .check_two_threads(kDepthwise, Layout::kChannelsLast, {.absolute = 5e-2, .relative = 2e-2});
}

TEST(HalfDepthwise, KeepsNanAndInfinity) {
  check(OpCase("Conv")
            .input(with_few_specials(random_tensor({1, 40, 9, 11}, -1, 1, 5), 3))
            .constant({40, 1, 3, 3}, -1, 1)
            .attribute("group", std::int64_t{40})
            .attribute("pads", Integers{1, 1, 1, 1}),
        kDepthwise, {.absolute = 5e-2, .relative = 2e-2});
}

TEST(HalfDepthwise, RefusesOtherGroups) {
  const OpCase grouped = OpCase("Conv")
                             .input({1, 32, 9, 9})
                             .constant({32, 16, 3, 3}, -1, 1)
                             .attribute("group", std::int64_t{2})
                             .in(DType::kBFloat16);
  EXPECT_FALSE(grouped.supports(kDepthwise, Layout::kChannelsLast));
}

TEST(HalfMaxPool, OfRandomSizes) {
  RandomSizes any(8);
  for (int round = 0; round < 40; ++round) {
    OpCase made("MaxPool");
    made.input({any(1, 2), any(1, 100), any(8, 20), any(8, 50)})
        .attribute("kernel_shape", Integers{any(2, 4), any(2, 3)});
    add_window(made, any);
    check(made, kMaxPool, kExact);
  }
}

/// Windows of -infinity, of NaN, and one that lies in the padding alone.
TEST(HalfMaxPool, OfSpecials) {
  check(OpCase("MaxPool")
            .input(with_few_specials(random_tensor({1, 40, 9, 11}, -1, 1, 5), 3))
            .attribute("kernel_shape", Integers{3, 3})
            .attribute("pads", Integers{1, 1, 1, 1}),
        kMaxPool, kExact);
  Tensor lowest(DType::kFloat32, {1, 8, 4, 4});
  std::ranges::fill(lowest.data<float>(), -std::numeric_limits<float>::infinity());
  check(OpCase("MaxPool")
            .input(lowest)
            .attribute("kernel_shape", Integers{2, 2})
            .attribute("dilations", Integers{3, 3})
            .attribute("pads", Integers{2, 2, 2, 2}),
        kMaxPool, kExact);
}

}  // namespace
}  // namespace saccade
