#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.deconvolution");
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};
using Integers = std::vector<std::int64_t>;

TEST(Deconvolution, DoublesAnImage) {
  OpCase("ConvTranspose")
      .input({1, 8, 7, 5})
      .constant({8, 16, 2, 2}, -1, 1)
      .constant({16}, -1, 1)
      .attribute("strides", Integers{2, 2})
      .post("Relu")
      .check_layouts(kTactic, kClose);
}

TEST(Deconvolution, PadsItsOutput) {
  OpCase("ConvTranspose")
      .input({2, 6, 7, 5})
      .constant({6, 4, 3, 4}, -1, 1)
      .attribute("strides", Integers{2, 2})
      .attribute("pads", Integers{1, 1, 1, 1})
      .attribute("output_padding", Integers{1, 0})
      .check_layouts(kTactic, kClose);
}

TEST(Deconvolution, Groups) {
  OpCase("ConvTranspose")
      .input({1, 6, 7, 5})
      .constant({6, 2, 3, 3}, -1, 1)
      .constant({6}, -1, 1)
      .attribute("group", std::int64_t{3})
      .check_layouts(kTactic, kClose);
}

TEST(Deconvolution, KeepsThePostOpsOfOneKindApart) {
  OpCase("ConvTranspose")
      .input({1, 8, 7, 5})
      .constant({8, 16, 2, 2}, -1, 1)
      .post("Clip", -0.5F, 1.5F)
      .post("HardSigmoid", 0.5F, 0.5F)
      .check_layouts(kTactic, kClose);
}

}  // namespace
}  // namespace saccade
