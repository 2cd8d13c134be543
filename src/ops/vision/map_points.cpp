#include <algorithm>
#include <cmath>

#include "ops/core/op.hpp"

// saccade.MapPoints: points in the model's pixels to source pixels, clipped to the frame.
//
// Inputs: points float32 [N, K, D], D of 2 or more, the first two of which are x and y; saccade.Preprocess's geometry.
// Output: the same shape; the numbers after x and y are copied, and so are NaN and infinity: code that converts a point
// to integer pixels has to check for them.
namespace saccade {
namespace {

void infer_map_points(InferContext& context) {
  const Shape& points = context.shape(0);
  if (context.dtype(0) != DType::kFloat32 || points.rank() != 3 || points[2] < 2)
    fail(ErrorCode::kInvalidFile, "points are {} {}, not float32 objectsxpointsx2 or more", to_string(context.dtype(0)),
         points.to_string());
  if (context.dtype(1) != DType::kFloat32 || context.shape(1) != Shape{6})
    fail(ErrorCode::kInvalidFile, "the geometry is {} {}, not float32 6", to_string(context.dtype(1)),
         context.shape(1).to_string());
  context.output(0, DType::kFloat32, points);
}

void reference_map_points(const KernelContext& context) {
  const auto numbers = static_cast<std::size_t>(context.input(0).shape[2]);
  const std::span<const float> geometry = context.in<float>(1);
  const std::span<const float> points = context.in<float>(0);
  const std::span<float> mapped = context.out<float>();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t axis = i % numbers;
    mapped[i] = axis < 2 && std::isfinite(points[i])
                    ? std::clamp((points[i] - geometry[2 + axis]) / geometry[axis], 0.0F, geometry[4 + axis])
                    : points[i];
  }
}

constexpr Op kMapPointsOps[] = {{"saccade", "MapPoints", infer_map_points, reference_map_points, {.arity = {2, 2}}}};

}  // namespace

std::span<const Op> map_points_ops() { return kMapPointsOps; }

}  // namespace saccade
