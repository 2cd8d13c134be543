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

}  // namespace
}  // namespace saccade
