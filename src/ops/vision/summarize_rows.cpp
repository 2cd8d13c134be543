#include <cmath>
#include <limits>

#include "ops/core/op.hpp"

// saccade.SummarizeRows: statistics of a map's finite numbers, row by row.
//
// Input: float32 [h, w].  Output: float32 [h, 5]: minimum, maximum and mean (in float64, then rounded) of the finite
// numbers and their count; infinity, -infinity, 0 and 0 if there are none; and the number of infinities. A sum need not
// be finite.
namespace saccade {
namespace {

void infer_summarize_rows(InferContext& context) {
  const Shape& map = context.shape(0);
  if (context.dtype(0) != DType::kFloat32 || map.rank() != 2)
    fail(ErrorCode::kInvalidFile, "the map is {} {}, not float32 heightxwidth", to_string(context.dtype(0)),
         map.to_string());
  context.output(0, DType::kFloat32, {map[0], 5});
}

void reference_summarize_rows(const KernelContext& context) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Shape& shape = context.input(0).shape;
  const float* row = context.in<float>(0).data();
  float* out = context.out<float>().data();
  for (std::int64_t y = 0; y < shape[0]; ++y, row += shape[1], out += 5) {
    float least = kInfinity;
    float largest = -kInfinity;
    double sum = 0;
    double count = 0;
    float endless = 0;
    for (std::int64_t x = 0; x < shape[1]; ++x) {
      if (!(std::abs(row[x]) < kInfinity)) {
        endless += row[x] == kInfinity ? 1.0F : 0.0F;
        continue;
      }
      least = row[x] < least ? row[x] : least;
      largest = row[x] > largest ? row[x] : largest;
      sum += row[x];
      ++count;
    }
    out[0] = least;
    out[1] = largest;
    out[2] = count == 0 ? 0 : static_cast<float>(sum / count);
    out[3] = static_cast<float>(count);
    out[4] = endless;
  }
}

constexpr Op kSummarizeRowsOps[] = {
    {"saccade", "SummarizeRows", infer_summarize_rows, reference_summarize_rows, {.cost = {.per = CostPer::kInput}}}};

}  // namespace

std::span<const Op> summarize_rows_ops() { return kSummarizeRowsOps; }

}  // namespace saccade
