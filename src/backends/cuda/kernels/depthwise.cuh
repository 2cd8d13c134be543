#pragma once

#include "tile.cuh"

// Depthwise convolution. It is memory-bound: each input is read once from L2, and the reads of other taps and
// neighbouring threads hit L1. A thread computes kVector channels of kPixels adjacent outputs of a row and reuses the
// inputs that they share. The host writes the struct Layer of constants.
template <class L, class PostOps>
__device__ __forceinline__ void depthwise_convolution(const typename L::Element* __restrict__ input,
                                                      const typename L::Element* __restrict__ weights,
                                                      const float* __restrict__ biases,
                                                      typename L::Element* __restrict__ output,
                                                      const PostOps& post_ops) {
  using T = typename L::Element;
  constexpr int kVector = L::kVector;
  constexpr int kVectors = L::kChannels / kVector;
  constexpr int kStrips = ceil_div(L::kOutWidth, L::kPixels);
  constexpr int kColumns = (L::kPixels - 1) * L::kStrideX + (L::kKernelWidth - 1) * L::kDilationX + 1;
  constexpr int kTaps = L::kKernelHeight * L::kKernelWidth;
  using Vector = Packed<T, kVector>;

  const int at = blockIdx.x * L::kThreads + threadIdx.x;
  const int channel = at % kVectors * kVector;
  const int strip = at / kVectors;
  const int out_x = strip % kStrips * L::kPixels;
  const int image_row = strip / kStrips;
  const int out_y = image_row % L::kOutHeight;
  const int image = image_row / L::kOutHeight;
  const bool any = image < L::kImages;
  const int in_x = out_x * L::kStrideX - L::kPadX;
  const int in_y = out_y * L::kStrideY - L::kPadY;

  // Weights of small kernels are loaded before the inputs are available.
  constexpr bool kHeld = kTaps <= 9;
  Vector held[kHeld ? kTaps : 1];
  if constexpr (kHeld) {
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) held[tap] = load_packed<kVector>(weights + tap * L::kChannels + channel);
  }
  float acc[L::kPixels][kVector];
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float bias = biases[channel + i];
#pragma unroll
    for (int p = 0; p < L::kPixels; ++p) acc[p][i] = bias;
  }
  pdl_wait_and_trigger();
  if (!any) return;

#pragma unroll
  for (int row = 0; row < L::kKernelHeight; ++row) {
    const int y = in_y + row * L::kDilationY;
    const bool inside = static_cast<unsigned>(y) < static_cast<unsigned>(L::kHeight);
    // Small kernels do not branch, so that the loads of all rows overlap.
    if (!kHeld && !inside) continue;
    const T* from = input + ((image * L::kHeight + y) * L::kWidth + in_x) * L::kInPitch + channel;
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      Vector x = {};
      if (inside && static_cast<unsigned>(in_x + column) < static_cast<unsigned>(L::kWidth))
        x = load_packed<kVector>(from + column * L::kInPitch);
#pragma unroll
      for (int p = 0; p < L::kPixels; ++p) {
        const int along = column - p * L::kStrideX;
        if (along < 0 || along % L::kDilationX != 0 || along / L::kDilationX >= L::kKernelWidth) continue;
        const int tap = row * L::kKernelWidth + along / L::kDilationX;
        const Vector w = kHeld ? held[kHeld ? tap : 0] : load_packed<kVector>(weights + tap * L::kChannels + channel);
#pragma unroll
        for (int i = 0; i < kVector; ++i) acc[p][i] = fmaf(widen(x.data[i]), widen(w.data[i]), acc[p][i]);
      }
    }
  }

#pragma unroll
  for (int p = 0; p < L::kPixels; ++p) {
    if (out_x + p >= L::kOutWidth) break;
    const int offset = (image_row * L::kOutWidth + out_x + p) * L::kOutPitch + channel;
    post_ops.apply(acc[p], post_ops.template load<kVector>(offset));
    store_packed(output + offset, acc[p]);
  }
}
