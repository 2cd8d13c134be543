#pragma once

#include "convolution_tiling.cuh"

// How convolution.cuh brings inputs into shared memory.

/// Which elements of the input a thread copies, worked out before there is any.
template <class L>
struct InputCopies {
  using S = Tiling<L>;
  using T = typename L::Element;

  static constexpr bool kMoves = !S::kWhole && S::kTaps > 1;  // each tap has pixels outside of its own

  /// Element offsets of this thread's vectors at channel 0, -1 outside; where taps move, the first one's anyway.
  int from[S::kCopies];
  int place[kMoves ? S::kCopies : 1];  // of the window's first tap: y and x, 16 bits each

  __device__ __forceinline__ void aim(int image, int y, int x, int first_pixel, int group) {
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
      const int at = threadIdx.x + i * S::kThreads;
      const int row = at / S::kPixelVectors;
      const int channel = group * L::kChannels + at % S::kPixelVectors * S::kVector;
      if constexpr (S::kWhole) {
        const int in_y = y * L::kStrideY - L::kPadY + row / S::kPatchWidth;
        const int in_x = x * L::kStrideX - L::kPadX + row % S::kPatchWidth;
        from[i] = inside(in_y, in_x) && row < S::kCopied
                      ? ((image * L::kHeight + in_y) * L::kWidth + in_x) * L::kInPitch + channel
                      : -1;
      } else {
        const int pixel = first_pixel + row;
        const int line = pixel / L::kOutWidth;
        const int in_y = line % L::kOutHeight * L::kStrideY - L::kPadY;
        const int in_x = pixel % L::kOutWidth * L::kStrideX - L::kPadX;
        const bool there = pixel < S::kPixels && row < S::kCopied;
        from[i] = ((line / L::kOutHeight * L::kHeight + in_y) * L::kWidth + in_x) * L::kInPitch + channel;
        if constexpr (kMoves) {
          place[i] = there ? in_y * 65536 + (in_x & 0xFFFF) : -32768 * 65536;
        } else if (!there || !inside(in_y, in_x)) {
          from[i] = -1;
        }
      }
    }
  }
  static __device__ __forceinline__ bool inside(int y, int x) {
    return static_cast<unsigned>(y) < static_cast<unsigned>(L::kHeight) &&
           static_cast<unsigned>(x) < static_cast<unsigned>(L::kWidth);
  }

  /// Bytes are padded with their zero point.
  static __device__ __forceinline__ Packed<T, S::kVector> padding() {
    Packed<T, S::kVector> packed;
#pragma unroll
    for (int i = 0; i < S::kVector; ++i)
      packed.data[i] = {{static_cast<typename T::Byte>(L::kPadding), static_cast<typename T::Byte>(L::kPadding)}};
    return packed;
  }

  __device__ __forceinline__ void copy(unsigned char* stage, const T* __restrict__ input, int step) const {
    const int tap = S::kWhole ? 0 : step / S::kChannelSteps;
    const int channel = S::kWhole || S::kTaps > 1 ? step % S::kChannelSteps * L::kStep : step * L::kStep;
    const int tap_y = tap / L::kKernelWidth * L::kDilationY;
    const int tap_x = tap % L::kKernelWidth * L::kDilationX;
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
      const int at = threadIdx.x + i * S::kThreads;
      if (S::kCopied * S::kPixelVectors % S::kThreads != 0 && i == S::kCopies - 1 &&
          at >= S::kCopied * S::kPixelVectors)
        break;
      const int row = at / S::kPixelVectors;
      const int vector = at % S::kPixelVectors;
      int held = row;
      bool valid = from[i] >= 0;
      int offset = from[i] + channel;
      if constexpr (S::kWhole) held = row / S::kPatchWidth * S::kLinePixels + row % S::kPatchWidth;
      if constexpr (kMoves) {
        valid = inside((place[i] >> 16) + tap_y, static_cast<short>(place[i] & 0xFFFF) + tap_x);
        offset += (tap_y * L::kWidth + tap_x) * L::kInPitch;
      }
      if constexpr (L::kChannels % L::kStep != 0) valid = valid && channel + vector * S::kVector < L::kChannels;
      T* to = reinterpret_cast<T*>(stage + held * S::kPixelBytes) + vector * S::kVector;
      if constexpr (S::kBytes) {
        if (!valid) {
          *reinterpret_cast<Packed<T, S::kVector>*>(to) = padding();
          continue;
        }
      }
      copy_elements<S::kVector>(to, valid ? input + offset : input, valid);
    }
  }

  /// Pixels of up to 4 channels: the rest is zero.
  __device__ __forceinline__ void copy_few(unsigned char* stage, const T* __restrict__ input) const {
    Packed<T, 4> pixel[S::kCopies];
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) pixel[i].data[c] = c < L::kChannels && from[i] >= 0 ? input[from[i] + c] : T{};
    }
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
      const int row = threadIdx.x + i * S::kThreads;
      if (row < S::kCopied)
        *reinterpret_cast<Packed<T, 4>*>(stage + (row / S::kPatchWidth * S::kLinePixels + row % S::kPatchWidth) *
                                                     S::kPixelBytes) = pixel[i];
    }
  }
};
