#include <cmath>
#include <random>

#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

// An exponential of the math library, times a stride.
constexpr Tolerance kUnits{.absolute = 1e-6, .relative = 5e-7};

using Ints = std::vector<std::int64_t>;

/// Numbers in 0..1 with few distinct values, so that many tie, and some NaN.
Tensor odd_numbers(const Shape& shape, int values, float share_odd) {
  std::mt19937 random(static_cast<std::uint32_t>(shape.elements()));
  std::uniform_real_distribution<float> share(0, 1);
  Tensor tensor(DType::kFloat32, shape);
  for (float& number : tensor.data<float>()) {
    number = static_cast<float>(random() % static_cast<unsigned>(values)) / static_cast<float>(values - 1);
    if (share(random) < share_odd) number = std::array{kNan, kInfinity, -kInfinity, -0.0F}[random() % 4];
  }
  return tensor;
}

OpCase decoder(const std::string& op, const Tensor& predictions) {
  OpCase made(op, "saccade");
  made.input(predictions).outputs(6).attribute("conf", 0.4F);
  return made;
}

TEST(CudaDecode, TakesTheFirstOfTheBestClasses) {
  for (int values : {3, 1000})
    for (float odd : {0.0F, 0.1F}) {
      decoder("DecodeYolov8", odd_numbers({1, 9, 301}, values, odd)).check_layouts(on_cuda("decode"), kExact);
      decoder("DecodeYolov5", odd_numbers({1, 301, 10}, values, odd)).check_layouts(on_cuda("decode"), kExact);
      decoder("DecodeEndToEnd", odd_numbers({1, 301, 7}, values, odd)).check_layouts(on_cuda("decode"), kExact);
    }
}

TEST(CudaDecode, TakesBoxesAndScoresApart) {
  for (std::int64_t numbers : {4, 5})
    for (bool every : {false, true})
      decoder("DecodeBoxes", odd_numbers({1, 150, numbers}, 50, 0.02F))
          .absent()
          .input(odd_numbers({1, 150, 6}, 4, 0.1F))
          .attribute("multi_label", std::int64_t{every})
          .check_layouts(on_cuda("decode"), kExact);
}

TEST(CudaDecode, TakesEveryClassOnRequest) {
  for (float odd : {0.0F, 0.1F}) {
    decoder("DecodeYolov8", odd_numbers({1, 9, 301}, 5, odd))
        .attribute("multi_label", std::int64_t{1})
        .check_layouts(on_cuda("decode"), kExact);
    decoder("DecodeYolov5", odd_numbers({1, 301, 10}, 9, odd))
        .attribute("multi_label", std::int64_t{1})
        .check(on_cuda("decode"), kExact);
  }
}

TEST(CudaDecode, KeepsTheBestWhenThereAreTooManyLabels) {
  for (int values : {7, 100000})
    decoder("DecodeYolov8", odd_numbers({1, 104, 400}, values, 0.01F))
        .attribute("conf", -1.0F)
        .attribute("multi_label", std::int64_t{1})
        .attribute("threshold", std::vector<float>(100, 0.5F))
        .check(on_cuda("decode"), kExact);
}

TEST(CudaDecode, FiltersClassesByNameAndThreshold) {
  for (std::int64_t every : {0, 1})
    decoder("DecodeYolov8", odd_numbers({1, 11, 301}, 20, 0.02F))
        .input(Tensor::of<bool>({3}, {true, false, true}))
        .attribute("classes", std::int64_t{5})
        .attribute("remap", Ints{2, -1, 0, 1, 3})
        .attribute("threshold", std::vector<float>{0.5F, 0.6F, 0.7F, 0.8F})
        .attribute("multi_label", every)
        .check_layouts(on_cuda("decode"), kExact);
  decoder("DecodeEndToEnd", Tensor::of<float>({1, 4, 6}, {1, 2, 3, 4, 0.9F, 1,    1, 2, 3, 4, 0.9F, 2,  //
                                                          1, 2, 3, 4, 0.9F, 9e5F, 1, 2, 3, 4, 0.5F, -0.5F}))
      .constant(Tensor::of<bool>({5}, {true, true, true, true, true}))
      .attribute("remap", Ints{0, 4, -1})
      .check(on_cuda("decode"), kExact);
}

TEST(CudaDecode, PlacesBoxesOnTheGrid) {
  // 12x8 cells of stride 8, 6x4 of 16, 3x2 of 32, none of 128.
  Tensor rows = odd_numbers({1, 126, 8}, 1000, 0.01F);
  decoder("DecodeYolox", rows)
      .attribute("strides", Ints{8, 16, 128, 32})
      .attribute("width", std::int64_t{96})
      .attribute("height", std::int64_t{64})
      .check_layouts(on_cuda("decode"), kUnits);
  decoder("DecodeYolox", rows)
      .attribute("strides", Ints{8, 16, 32})
      .attribute("width", std::int64_t{97})
      .attribute("height", std::int64_t{70})
      .attribute("multi_label", std::int64_t{1})
      .check(on_cuda("decode"), kUnits);
}

TEST(CudaDecode, TakesThousandsOfAnchorsAndNone) {
  decoder("DecodeYolov8", odd_numbers({1, 84, 8400}, 2000, 0.001F))
      .attribute("conf", 0.98F)
      .check(on_cuda("decode"), kExact);
  decoder("DecodeYolov5", odd_numbers({1, 4000, 25}, 2000, 0.001F))
      .attribute("conf", 0.9F)
      .check(on_cuda("decode"), kExact);
  decoder("DecodeYolov8", odd_numbers({1, 6, 40}, 9, 0)).attribute("conf", 1.0F).check(on_cuda("decode"), kExact);
  decoder("DecodeYolov8", odd_numbers({1, 6, 1}, 2, 0)).check(on_cuda("decode"), kExact);
}

}  // namespace
}  // namespace saccade
