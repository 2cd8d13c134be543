#include <cmath>

#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

OpCase own(const std::string& op) { return OpCase(op, "saccade"); }

const Tensor kGeometry = Tensor::of<float>({6}, {0.517F, 0.263F, 4.25F, 6.5F, 100, 80});

TEST(CudaPredictionOps, MapPointsExactly) {
  for (const Shape& shape : {Shape{7, 17, 3}, Shape{1, 1, 2}, Shape{3, 1, 4}})
    own("MapPoints").input(shape, -20, 90).input(kGeometry).check_layouts(on_cuda("predictions"), kExact);
  own("MapPoints")
      .input(Tensor::of<float>({1, 2, 3}, {kNan, kInfinity, kNan, -kInfinity, -0.0F, kInfinity}))
      .constant(kGeometry)
      .check(on_cuda("predictions"), kExact);
}

TEST(CudaPredictionOps, MapClassesToTheFirstOfTheBest) {
  own("MapClasses").input({1, 19, 13, 21}).check_layouts(on_cuda("predictions"), kExact);
  own("MapClasses")
      .input(DType::kFloat32, {1, 5, 1, 300}, 0, 1)
      .check(on_cuda("predictions"), kExact);  // all scores tie
  own("MapClasses")
      .input(Tensor::of<float>({1, 2, 2, 2}, {kNan, kNan, 3, -kInfinity, kNan, -9, kNan, -kInfinity}))
      .check_layouts(on_cuda("predictions"), kExact);
  own("MapClasses").input({1, 1, 4, 50}).check(on_cuda("predictions"), kExact);
  own("MapClasses").input({1, 1, 4, 50}).attribute("threshold", 0.5F).check_layouts(on_cuda("predictions"), kExact);
}

TEST(CudaPredictionOps, SummarizeRowsExactly) {
  for (const Shape& shape : {Shape{37, 61}, Shape{1, 1}, Shape{300, 3}})
    own("SummarizeRows").input(shape).check(on_cuda("predictions"), kExact);
  own("SummarizeRows")
      .input(Tensor::of<float>(
          {3, 4}, {kNan, 1e8F, 1, -1e8F, kInfinity, -kInfinity, kNan, kInfinity, 3e38F, 3e38F, 3e38F, 3e38F}))
      .check(on_cuda("predictions"), kExact);
}

TEST(CudaPredictionOps, TakeObjectsUpToTheCount) {
  const Tensor indices = Tensor::of<std::int32_t>({5}, {3, -4, 9, 3, 0});
  for (std::int32_t count : {5, 3, 0, -1, 9}) {
    const auto defined = static_cast<std::size_t>(std::clamp(count, 0, 5));
    const Tensor counted = Tensor::of<std::int32_t>({1}, {count});
    own("TakeObjects")
        .input({1, 4, 7})
        .input(indices)
        .input(counted)
        .defined(0, 7 * defined)
        .check(on_cuda("predictions"), kExact);
    own("TakeObjects")
        .input({1, 4, 3, 2})
        .input(indices)
        .input(counted)
        .defined(0, 6 * defined)
        .check_layouts(on_cuda("predictions"), kExact);
  }
  own("TakeObjects")
      .input({1, 4})
      .input(Tensor::of<std::int32_t>({1}, {2}))
      .input(Tensor::of<std::int32_t>({1}, {1}))
      .check(on_cuda("predictions"), kExact);
}

/// Masks of N objects whose boxes are ROWS of six numbers.
OpCase masks(const std::vector<float>& rows, std::int32_t count) {
  const auto objects = static_cast<std::int64_t>(rows.size() / 6);
  OpCase made = own("BoxMasks");
  made.input({objects, 8}).input({1, 8, 10, 13}).input(Tensor::of<float>({objects, 6}, std::span(rows)));
  made.input(Tensor::of<std::int32_t>({1}, {count})).input(kGeometry);
  made.attribute("width", std::int64_t{52}).attribute("height", std::int64_t{40});
  made.defined(0, static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, objects)) * 130);
  return made;
}

TEST(CudaPredictionOps, SumMasksInTheCellsOfABox) {
  const std::vector<float> rows = {10, 5, 60, 70, 0.9F, 0, 0, 0, 100, 80, 0.8F, 1, 30, 30, 31, 31, 0.7F, 2};
  for (std::int32_t count : {3, 1, 0, 7}) masks(rows, count).check_layouts(on_cuda("predictions"), kExact);
}

TEST(CudaPredictionOps, SumNoMaskOfABoxThatIsNoNumber) {
  masks({kNan, kNan, kNan, kNan, 1, 0, kInfinity, 0, -kInfinity, 8, 1, 0, -kInfinity, -1e30F, kInfinity, 1e30F, 1, 0},
        3)
      .check(on_cuda("predictions"), kExact);
}

}  // namespace
}  // namespace saccade
