#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

const Tensor kInput = Tensor::of<float>({5}, {-2, -0.5F, 0, 1, 3});

SACCADE_EVERY_BACKEND(Shrink);

TEST_P(Shrink, CutsOffSmallValues) {
  OpCase("Shrink")
      .input(kInput)
      .attribute("lambd", 0.75F)
      .expect(Tensor::of<float>({5}, {-2, 0, 0, 1, 3}))
      .check(by("", "elements"), kExact);
}

TEST_P(Shrink, BringsTheOthersNearerToZero) {
  OpCase("Shrink")
      .input(kInput)
      .attribute("lambd", 1.5F)
      .attribute("bias", 1.5F)
      .expect(Tensor::of<float>({5}, {-0.5F, 0, 0, 0, 1.5F}))
      .check(by("", "elements"), kExact);
}

TEST_P(Shrink, TruncatesIntegers) {
  OpCase("Shrink")
      .input(Tensor::of<std::int32_t>({4}, {-3, -1, 1, 3}))
      .attribute("lambd", 1.5F)
      .attribute("bias", 1.5F)
      .expect(Tensor::of<std::int32_t>({4}, {-1, 0, 0, 1}))
      .check(by(), kExact);
  OpCase("Shrink")
      .input(Tensor::of<std::uint8_t>({2}, {0, 200}))
      .attribute("bias", -100.0F)
      .expect(Tensor::of<std::uint8_t>({2}, {0, 255}))
      .check(by(), kExact);
}

}  // namespace
}  // namespace saccade
