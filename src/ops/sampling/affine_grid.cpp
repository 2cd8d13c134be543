#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"

// AffineGrid: the sampling grid of GridSample for an affine transform. Inputs theta [N, 2, 3] or [N, 3, 4] and size (N,
// C, spatial); output [N, spatial, 2 or 3], coordinates innermost axis first.
namespace saccade {
namespace {

void infer_affine_grid(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an affine map");
  const auto size = context.integers(1, "the size of its grid");
  const Shape& theta = context.shape(0);
  const auto rank = std::ssize(size) - 2;
  if ((rank != 2 && rank != 3) || theta != Shape{size[0], rank, rank + 1})
    fail(ErrorCode::kInvalidFile, "maps of shape {} don't fit a grid of rank {}", theta.to_string(), size.size());
  Shape output{size[0]};
  for (std::size_t i = 2; i < size.size(); ++i) {
    if (size[i] < 0) fail(ErrorCode::kInvalidFile, "a grid can't be {} long", size[i]);
    output.push_back(size[i]);
  }
  output.push_back(rank);
  context.output(0, context.dtype(0), output);
}

/// The coordinate of element I of COUNT, where -1 and 1 are the centres of the outer elements (ALIGN) or their edges.
double coordinate(std::int64_t i, std::int64_t count, bool align) {
  if (align) return count == 1 ? 0 : -1 + 2 * static_cast<double>(i) / static_cast<double>(count - 1);
  return -1 + (2 * static_cast<double>(i) + 1) / static_cast<double>(count);
}

template <typename T>
void fill_grid(const KernelContext& context, bool align) {
  const Shape& shape = context.output().shape;
  const auto rank = static_cast<std::size_t>(shape.back());
  const auto theta = context.in<T>(0);
  const auto grid = context.out<T>();
  const std::int64_t points = shape[0] == 0 ? 0 : shape.elements() / shape[0] / shape.back();
  for (std::size_t i = 0; i * rank < grid.size(); ++i) {
    std::array<double, 3> at{};  // innermost axis first
    auto rest = static_cast<std::int64_t>(i) % points;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t count = shape[static_cast<int>(rank - axis)];
      at[axis] = coordinate(rest % count, count, align);
      rest /= count;
    }
    const auto map = theta.subspan(i / static_cast<std::size_t>(points) * rank * (rank + 1), rank * (rank + 1));
    for (std::size_t row = 0; row < rank; ++row) {
      auto sum = static_cast<double>(map[row * (rank + 1) + rank]);
      for (std::size_t k = 0; k < rank; ++k) sum += static_cast<double>(map[row * (rank + 1) + k]) * at[k];
      grid[i * rank + row] = static_cast<T>(static_cast<Accumulator<T>>(sum));
    }
  }
}

void reference_affine_grid(const KernelContext& context) {
  const bool align = context.attributes().integer("align_corners", 0) != 0;
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { fill_grid<T>(context, align); });
}

constexpr Op kAffineGridOps[] = {{"", "AffineGrid", infer_affine_grid, reference_affine_grid, {.arity = {2, 2}}}};

}  // namespace

std::span<const Op> affine_grid_ops() { return kAffineGridOps; }

}  // namespace saccade
