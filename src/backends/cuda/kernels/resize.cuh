#pragma once

#include "tile.cuh"

// Resize of channels-last images: a thread computes kVector channels of one output pixel as a separable sum over kTapsY
// x kTapsX inputs. FIRST gives the first input of each output along an axis, WEIGHTS its tap weights, 0 for a missing
// tap. The host writes the struct Layer of constants.
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
  const int image_row = pixel / L::kOutWidth;
  const int out_y = image_row % L::kOutHeight;
  const int image = image_row / L::kOutHeight;
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
      // Memory at a missing tap may hold an infinity or another image.
      if (along_y[y] == 0 || along_x[x] == 0) continue;
      const int from = (image * L::kHeight + in_y + y) * L::kWidth + in_x + x;
      taps[y][x] = load_packed<kVector>(input + from * L::kInPitch + channel);
    }
  }
  float acc[kVector] = {};
#pragma unroll
  for (int y = 0; y < L::kTapsY; ++y) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      float sum = 0;
#pragma unroll
      for (int x = 0; x < L::kTapsX; ++x) sum += along_x[x] * widen(taps[y][x].data[i]);
      acc[i] += along_y[y] * sum;
    }
  }
  const int offset = pixel * L::kOutPitch + channel;
  post_ops.apply(acc, post_ops.template load<kVector>(offset));
  store_packed(output + offset, acc);
}
