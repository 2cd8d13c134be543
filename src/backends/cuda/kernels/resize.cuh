#pragma once

#include "tile.cuh"

// Resize of images whose channels lie side by side: a thread works out kVector channels of one output pixel, a sum over
// kTapsY lines of sums over kTapsX pixels. FIRST gives, for each output along an axis, its first input, WEIGHTS that of
// each tap; a weight of 0 is a tap that is not there. The host writes the struct Layer of constants.
template <class L, class PostOps>
__device__ __forceinline__ void resize_channels(const typename L::Element* __restrict__ input,
                                                const int* __restrict__ first_y, const float* __restrict__ weights_y,
                                                const int* __restrict__ first_x, const float* __restrict__ weights_x,
                                                typename L::Element* __restrict__ output, const PostOps& post_ops) {
  constexpr int kVector = L::kVector;
  constexpr int kVectors = L::kChannels / kVector;
  const int at = blockIdx.x * L::kThreads + threadIdx.x;
  const int channel = at % kVectors * kVector;
  const int pixel = at / kVectors;
  const int out_x = pixel % L::kOutWidth;
  const int line = pixel / L::kOutWidth;
  const int out_y = line % L::kOutHeight;
  const int image = line / L::kOutHeight;
  const bool any = image < L::kImages;

  const int in_y = first_y[out_y];
  const int in_x = first_x[out_x];
  float along_y[L::kTapsY];
  float along_x[L::kTapsX];
#pragma unroll
  for (int i = 0; i < L::kTapsY; ++i) along_y[i] = weights_y[out_y * L::kTapsY + i];
#pragma unroll
  for (int i = 0; i < L::kTapsX; ++i) along_x[i] = weights_x[out_x * L::kTapsX + i];
  pdl_wait_and_trigger();
  if (!any) return;

  Packed<typename L::Element, kVector> taps[L::kTapsY][L::kTapsX] = {};
#pragma unroll
  for (int y = 0; y < L::kTapsY; ++y) {
#pragma unroll
    for (int x = 0; x < L::kTapsX; ++x) {
      // What lies where no tap is could be infinite, or another image's.
      if (along_y[y] == 0 || along_x[x] == 0) continue;
      const int from = (image * L::kHeight + in_y + y) * L::kWidth + in_x + x;
      taps[y][x] = load_packed<kVector>(input + from * L::kInPitch + channel);
    }
  }
  float sums[kVector] = {};
#pragma unroll
  for (int y = 0; y < L::kTapsY; ++y) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      float sum = 0;
#pragma unroll
      for (int x = 0; x < L::kTapsX; ++x) sum += along_x[x] * widen(taps[y][x].data[i]);
      sums[i] += along_y[y] * sum;
    }
  }
  const int offset = pixel * L::kOutPitch + channel;
  post_ops.apply(sums, post_ops.template load<kVector>(offset));
  store_packed(output + offset, sums);
}
