#include "cuda/plans/convolution_tiling.hpp"

namespace saccade::cuda {

bool is_tensor(const ConvolutionShape& shape) { return uses_tensor_cores(shape.element_bytes(), shape.tf32); }
bool is_bytes(const ConvolutionShape& shape) { return shape.dtype == DType::kInt8 || shape.dtype == DType::kUInt8; }
int mma_k_of(const ConvolutionShape& shape) { return mma_k_of(shape.element_bytes(), shape.tf32); }

int registers_of(const ConvolutionShape& shape, const ConvolutionTiling& tiling) {
  const int accumulators = 4 * tiling.m * tiling.n;
  const int offsets = !tiling.all_taps && shape.taps() > 1 ? 2 : 1;
  const int copies = shape.element_bytes() == 4 ? offsets * tiling.loads : 0;
  return accumulators + 8 * tiling.m + copies + (is_tensor(shape) ? 4 * tiling.n + 40 : 2 * tiling.n + 56);
}

}  // namespace saccade::cuda
