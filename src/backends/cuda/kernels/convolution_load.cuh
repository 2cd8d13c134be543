#pragma once

#include "convolution_traits.cuh"

// Producer side of convolution.cuh: input loads into shared memory.

/// The input elements that a thread loads. Addresses are computed before any activation exists.
template <class L>
struct InputLoader {
  using S = ConvolutionTraits<L>;
  using T = typename L::Element;

  static constexpr bool kPerTapBounds = !S::kAllTaps && S::kTaps > 1;  // each tap has its own out-of-bounds pixels

  /// Element offset of each vector at channel 0; -1 outside the image. With per-tap bounds, the offset of the first
  /// tap.
  int offsets[S::kLoads];
  int origin[kPerTapBounds ? S::kLoads : 1];  // y and x of the first tap, 16 bits each

  __device__ __forceinline__ void init(int image, int y, int x, int first_pixel, int group) {
#pragma unroll
    for (int i = 0; i < S::kLoads; ++i) {
      const int at = threadIdx.x + i * S::kThreads;
      const int row = at / S::kPixelVectors;
      const int channel = group * L::kChannels + at % S::kPixelVectors * S::kVector;
      if constexpr (S::kAllTaps) {
        const int in_y = y * L::kStrideY - L::kPadY + row / S::kHaloWidth;
        const int in_x = x * L::kStrideX - L::kPadX + row % S::kHaloWidth;
        offsets[i] = inside(in_y, in_x) && row < S::kLoadedPixels
                         ? ((image * L::kHeight + in_y) * L::kWidth + in_x) * L::kInPitch + channel
                         : -1;
      } else {
        const int pixel = first_pixel + row;
        const int image_row = pixel / L::kOutWidth;
        const int in_y = image_row % L::kOutHeight * L::kStrideY - L::kPadY;
        const int in_x = pixel % L::kOutWidth * L::kStrideX - L::kPadX;
        const bool there = pixel < S::kPixels && row < S::kLoadedPixels;
        offsets[i] = ((image_row / L::kOutHeight * L::kHeight + in_y) * L::kWidth + in_x) * L::kInPitch + channel;
        if constexpr (kPerTapBounds) {
          origin[i] = there ? in_y * 65536 + (in_x & 0xFFFF) : -32768 * 65536;
        } else if (!there || !inside(in_y, in_x)) {
          offsets[i] = -1;
        }
      }
    }
  }
  static __device__ __forceinline__ bool inside(int y, int x) {
    return static_cast<unsigned>(y) < static_cast<unsigned>(L::kHeight) &&
           static_cast<unsigned>(x) < static_cast<unsigned>(L::kWidth);
  }

  /// Integer inputs are padded with the zero point.
  static __device__ __forceinline__ Packed<T, S::kVector> padding() {
    Packed<T, S::kVector> packed;
#pragma unroll
    for (int i = 0; i < S::kVector; ++i)
      packed.data[i] = {{static_cast<typename T::Byte>(L::kPadding), static_cast<typename T::Byte>(L::kPadding)}};
    return packed;
  }

  __device__ __forceinline__ void load(unsigned char* stage, const T* __restrict__ input, int step) const {
    const int tap = S::kAllTaps ? 0 : step / S::kChannelSteps;
    const int channel = S::kAllTaps || S::kTaps > 1 ? step % S::kChannelSteps * L::kStep : step * L::kStep;
    const int tap_y = tap / L::kKernelWidth * L::kDilationY;
    const int tap_x = tap % L::kKernelWidth * L::kDilationX;
#pragma unroll
    for (int i = 0; i < S::kLoads; ++i) {
      const int at = threadIdx.x + i * S::kThreads;
      if (S::kLoadedPixels * S::kPixelVectors % S::kThreads != 0 && i == S::kLoads - 1 &&
          at >= S::kLoadedPixels * S::kPixelVectors)
        break;
      const int row = at / S::kPixelVectors;
      const int vector = at % S::kPixelVectors;
      int smem_pixel = row;
      bool valid = offsets[i] >= 0;
      int offset = offsets[i] + channel;
      if constexpr (S::kAllTaps) smem_pixel = row / S::kHaloWidth * S::kHaloPitch + row % S::kHaloWidth;
      if constexpr (kPerTapBounds) {
        valid = inside((origin[i] >> 16) + tap_y, static_cast<short>(origin[i] & 0xFFFF) + tap_x);
        offset += (tap_y * L::kWidth + tap_x) * L::kInPitch;
      }
      if constexpr (L::kChannels % L::kStep != 0) valid = valid && channel + vector * S::kVector < L::kChannels;
      T* to = reinterpret_cast<T*>(stage + smem_pixel * S::kPixelBytes) + vector * S::kVector;
      if constexpr (S::kBytes) {
        if (!valid) {
          *reinterpret_cast<Packed<T, S::kVector>*>(to) = padding();
          continue;
        }
      }
      copy_elements<S::kVector>(to, valid ? input + offset : input, valid);
    }
  }

  /// Pixels of up to 4 channels, zero-padded to 4.
  __device__ __forceinline__ void load_few(unsigned char* stage, const T* __restrict__ input) const {
    Packed<T, 4> pixel[S::kLoads];
#pragma unroll
    for (int i = 0; i < S::kLoads; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) pixel[i].data[c] = c < L::kChannels && offsets[i] >= 0 ? input[offsets[i] + c] : T{};
    }
#pragma unroll
    for (int i = 0; i < S::kLoads; ++i) {
      const int row = threadIdx.x + i * S::kThreads;
      if (row < S::kLoadedPixels)
        *reinterpret_cast<Packed<T, 4>*>(stage + (row / S::kHaloWidth * S::kHaloPitch + row % S::kHaloWidth) *
                                                     S::kPixelBytes) = pixel[i];
    }
  }
};
