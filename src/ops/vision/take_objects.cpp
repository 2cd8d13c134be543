#include <algorithm>
#include <cstring>

#include "ops/core/op.hpp"

// saccade.TakeObjects: gathers the rows of the selected objects.
//
// Inputs: data float32 [1, Q, ...]; int32 [N], the row of each object; their count int32 [1].
// Output: float32 [N, ...]. Rows past the count, normally most of them, are unspecified.
namespace saccade {
namespace {

void infer_take_objects(InferContext& context) {
  const Shape& data = context.shape(0);
  if (context.dtype(0) != DType::kFloat32 || data.rank() < 2 || data[0] != 1)
    fail(ErrorCode::kInvalidFile, "the data are {} {}, not float32 1xobjectsx...", to_string(context.dtype(0)),
         data.to_string());
  if (context.dtype(1) != DType::kInt32 || context.shape(1).rank() != 1 || context.dtype(2) != DType::kInt32 ||
      context.shape(2) != Shape{1})
    fail(ErrorCode::kInvalidFile, "indices and count are {} and {}, not int32 objects and 1",
         context.shape(1).to_string(), context.shape(2).to_string());
  std::vector<std::int64_t> taken(data.begin() + 1, data.end());
  taken[0] = context.shape(1)[0];
  context.output(0, DType::kFloat32, Shape(taken));
}

void reference_take_objects(const KernelContext& context) {
  const auto objects = context.input(0).shape[1];
  const std::span<const float> data = context.in<float>(0);
  const std::span<const std::int32_t> indices = context.in<std::int32_t>(1);
  const std::size_t row = objects == 0 ? 0 : data.size() / static_cast<std::size_t>(objects);
  const auto count = std::clamp<std::int64_t>(context.in<std::int32_t>(2)[0], 0, std::ssize(indices));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto from =
        static_cast<std::size_t>(std::clamp<std::int64_t>(indices[i], 0, std::max<std::int64_t>(objects - 1, 0)));
    std::copy_n(data.data() + from * row, row, context.out<float>().data() + i * row);
  }
}

constexpr OpTraits kTakeObjectsTraits{.arity = {3, 3},
                                      .cost = {.per = CostPer::kNothing},
                                      .reads = Reads::kCounted,
                                      .rows = {{{RowCount::By::kInput, 2}}}};

constexpr Op kTakeObjectsOps[] = {
    {"saccade", "TakeObjects", infer_take_objects, reference_take_objects, kTakeObjectsTraits}};

}  // namespace

std::span<const Op> take_objects_ops() { return kTakeObjectsOps; }

}  // namespace saccade
