#pragma once

#include "faults.cuh"
#include "launch.cuh"
#include "launch_sizes.hpp"

// saccade.TraceMasks: run-length encoding of the frame pixels where mask logits exceed a threshold, bit-identical to
// ops/vision/mask_tracer.hpp. The rows of an object are divided over a few blocks. Each samples a band of rows into
// bits in shared memory: one kernel counts runs, a second one writes them at their prefix offsets.

constexpr int32 kMaskWarps = kMaskThreads / 32;
constexpr int32 kMaskWords = 2176;  ///< 32 pixels each, per block

/// Mapping of frame pixels to the grid along one axis, and the range of pixels that may belong to the object.
struct MaskAxis {
  double scale, offset;
  int32 begin, end;
};
struct MaskLook {
  MaskAxis axes[2];
};

/// Frame pixels and their position in the input tensor along one axis: Placement of ops/vision/pixels.hpp.
struct PlacedAxis {
  int32 first, extent;
  int64 at, scaled;
};

__device__ __forceinline__ int64 half_of_rest(int64 size, int64 scaled, double less) {
  return static_cast<int64>(rint(__dadd_rn(__dmul_rn(static_cast<double>(size - scaled), 0.5), -less)));
}
__device__ __forceinline__ int64 at_least_one(double value) {
  const int64 whole = static_cast<int64>(value);
  return whole > 1 ? whole : 1;
}

/// crop_start() of ops/vision/pixels.cpp.
template <typename Spec>
__device__ __forceinline__ int64 crop_start(int64 size, int64 scaled) {
  if (scaled < size) return (size - scaled) / 2;
  if (Spec::kResize == 4) return -((scaled - size) / 2);
  return -static_cast<int64>(rint(__dmul_rn(static_cast<double>(scaled - size), 0.5)));
}

/// One AXIS of place() of ops/vision/pixels.hpp.
template <typename Spec>
__device__ __forceinline__ PlacedAxis place_axis(const float* geometry, int32 axis) {
  int32 first[2] = {0, 0};
  int32 extent[2];
#pragma unroll
  for (int32 i = 0; i < 2; ++i) {
    const int32 frame = static_cast<int32>(geometry[4 + i]);
    extent[i] = frame;
    if (!Spec::kHasRegion) continue;
    const int32 wanted = i == 0 ? Spec::kRegionX : Spec::kRegionY;
    const int32 size = i == 0 ? Spec::kRegionWidth : Spec::kRegionHeight;
    first[i] = wanted < frame ? wanted : frame;
    extent[i] = size < frame - first[i] ? size : frame - first[i];
  }
  const int32 size = axis == 0 ? Spec::kWidth : Spec::kHeight;
  const int32 own = axis == 0 ? extent[0] : extent[1];
  PlacedAxis placed{axis == 0 ? first[0] : first[1], own, 0, size};
  if (Spec::kResize == 1 || Spec::kResize == 2) {  // letterbox
    const double across = __ddiv_rn(Spec::kWidth, extent[0]);
    const double down = __ddiv_rn(Spec::kHeight, extent[1]);
    const double scaled = __dmul_rn(own, down < across ? down : across);
    placed.scaled = at_least_one(Spec::kResize == 1 ? rint(scaled) : scaled);
    if (Spec::kResize == 1) placed.at = half_of_rest(size, placed.scaled, 0.1);
  } else if (Spec::kResize == 3 || Spec::kResize == 4) {  // resize the shorter side, then centre crop
    const int32 shorter = extent[0] <= extent[1] ? extent[0] : extent[1];
    const bool is_shorter = axis == 0 ? extent[0] <= extent[1] : extent[0] > extent[1];
    placed.scaled = is_shorter ? Spec::kResizeTo : static_cast<int64>(Spec::kResizeTo) * own / shorter;
    placed.at = crop_start<Spec>(size, placed.scaled);
  }
  return placed;
}

/// One AXIS of grid_place() of ops/vision/mask_place.hpp.
template <typename Spec>
__device__ __forceinline__ MaskAxis grid_axis(const float* geometry, int32 axis) {
  const PlacedAxis placed = place_axis<Spec>(geometry, axis);
  const int32 size = axis == 0 ? Spec::kWidth : Spec::kHeight;
  const int32 cells = axis == 0 ? Spec::kColumns : Spec::kRows;
  const double at = static_cast<double>(placed.at);
  const double extent = placed.extent;
  MaskAxis seen;
  seen.scale = __ddiv_rn(static_cast<double>(placed.scaled * cells), __dmul_rn(extent, size));
  seen.offset = __dadd_rn(__dmul_rn(at, __ddiv_rn(cells, size)), -__dmul_rn(placed.first, seen.scale));
  const double pixels = __ddiv_rn(static_cast<double>(placed.scaled), extent);
  const auto pixel = [&](double edge) {
    const double centre = ceil(__dadd_rn(__ddiv_rn(__dadd_rn(edge, -at), pixels), -0.5));
    return placed.first + static_cast<int32>(centre < 0.0 ? 0.0 : extent < centre ? extent : centre);
  };
  seen.begin = pixel(0.0);
  seen.end = pixel(size);
  return seen;
}

__device__ __forceinline__ int32 first_pixel(float edge, int32 low, int32 high) {
  const float at = ceilf(edge);
  if (!(at > static_cast<float>(low))) return low;
  return at < static_cast<float>(high) ? static_cast<int32>(at) : high;
}

/// One AXIS of mask_look() of ops/vision/mask_place.hpp for the object of BOX, which is not read if masks are
/// unrestricted.
template <typename Spec>
__device__ __forceinline__ MaskAxis look_along(const float* geometry, const float* box, int32 axis) {
  MaskAxis look = grid_axis<Spec>(geometry, axis);
  if (!Spec::kOnBox && !Spec::kInBox) return look;
  const float low = box[axis];
  const float high = box[2 + axis];
  const int32 begin = first_pixel(low, look.begin, look.end);
  look.end = low != low || high != high ? begin : first_pixel(high, look.begin, look.end);
  look.begin = begin;
  if (!Spec::kOnBox) return look;
  const double side = __fsub_rn(high, low);
  const double cells = axis == 0 ? Spec::kColumns : Spec::kRows;
  look.scale = __ddiv_rn(cells, side < 1e-6 ? 1e-6 : side);
  look.offset = __dmul_rn(-low, look.scale);
  return look;
}

/// Linear interpolation along an axis: two cells and the weight of the second.
struct MaskTap {
  int32 first, second;
  float weight;
};
template <int Cells>
__device__ __forceinline__ MaskTap mask_tap(const MaskAxis& axis, int32 pixel) {
  const double centre = __dadd_rn(static_cast<double>(pixel), 0.5);
  const double position = __dadd_rn(__dadd_rn(__dmul_rn(centre, axis.scale), axis.offset), -0.5);
  const double low = floor(position);
  if (!(low >= 0.0)) return {0, 0, 0.0f};
  if (low >= static_cast<double>(Cells - 1)) return {Cells - 1, Cells - 1, 0.0f};
  const int32 first = static_cast<int32>(low);
  return {first, first + 1, __double2float_rn(__dadd_rn(position, -low))};
}
__device__ __forceinline__ float lerp(float first, float second, float weight) {
  return __fadd_rn(__fmul_rn(first, __fsub_rn(1.0f, weight)), __fmul_rn(second, weight));
}

/// A grid row interpolated at one frame column. If all cells involved are on one side of 0, so is every pixel between
/// them: rounding changes no sign of values that are neither tiny nor huge.
struct GridRow {
  float value;
  bool above, below;
  bool finite;  ///< neither NaN nor infinity
};
template <typename Spec, typename T>
__device__ __forceinline__ GridRow sample_row(const T* grid, int32 row, const MaskTap& across) {
  const T* line = grid + row * Spec::kRowStride;
  const float first = widen(line[across.first * Spec::kColumnStride]);
  const float second = widen(line[across.second * Spec::kColumnStride]);
  const auto is_above = [](float x) { return x > 1e-30f && x < 1e30f; };
  return {lerp(first, second, across.weight), is_above(first) && is_above(second), first <= 0.0f && second <= 0.0f,
          first < INFINITY && second < INFINITY};
}

/// Bit buffer of a band of rows. Bits beyond the last column are 0.
struct MaskBits {
  int32 words, pitch, rows;  ///< words used per row, row pitch, and rows per band

  __device__ __forceinline__ explicit MaskBits(const MaskAxis& across) {
    words = (across.end - across.begin) / 32 + 1;
    pitch = words | 1;  // odd pitch: the rows of one column fall into different banks
    rows = kMaskWords / pitch < 32 ? kMaskWords / pitch : 32;
  }
  /// Whether the pixel before word I is set.
  static __device__ __forceinline__ uint32 before(const uint32* row, int32 i) { return i == 0 ? 0u : row[i - 1] >> 31; }
};

/// Samples COUNT rows from FIRST on. Each warp takes 32 columns at a time. Returns whether all values that the thread
/// read are finite.
template <typename Spec, typename T>
__device__ __forceinline__ bool sample_rows(const T* grid, const MaskLook& look, const MaskBits& shape, int32 first,
                                            int32 count, uint32* bits) {
  bool finite = true;
  constexpr uint32 kAll = 0xFFFFFFFFu;
  const int32 lane = threadIdx.x & 31;
  const MaskTap own = mask_tap<Spec::kRows>(look.axes[1], first + lane);
  for (int32 word = threadIdx.x / 32; word < shape.words; word += kMaskWarps) {
    const int32 x = look.axes[0].begin + 32 * word + lane;
    const bool is_there = x < look.axes[0].end;
    const MaskTap across = mask_tap<Spec::kColumns>(look.axes[0], x);
    uint32 mine = 0;
    int32 held = -1;
    GridRow lower{};
    for (int32 row = 0; row < count;) {
      const int32 up = __shfl_sync(kAll, own.first, row);
      const int32 down = __shfl_sync(kAll, own.second, row);
      // Adjacent frame rows between the same two grid rows share their interpolation.
      const uint32 alike = __ballot_sync(kAll, lane < count && own.first == up && own.second == down);
      const int32 end = row + __popc(alike);
      const GridRow upper = up == held ? lower : sample_row<Spec>(grid, up, across);
      lower = sample_row<Spec>(grid, down, across);
      held = down;
      finite &= (upper.finite && lower.finite) || !is_there;
      const bool is_inside = upper.above && lower.above;
      const bool is_known = Spec::kOnBox ? false : is_inside || (upper.below && lower.below);
      if (__all_sync(kAll, is_known || !is_there)) {
        const uint32 seen = __ballot_sync(kAll, is_there && is_inside);
        if ((alike >> lane & 1) != 0) mine = seen;
      } else {
        for (int32 r = row; r < end; ++r) {
          const float weight = __shfl_sync(kAll, own.weight, r);
          const bool exceeds = lerp(upper.value, lower.value, weight) > (Spec::kOnBox ? 0.5f : 0.0f);
          const uint32 seen = __ballot_sync(kAll, is_there && exceeds);
          if (lane == r) mine = seen;
        }
      }
      row = end;
    }
    if (lane < count) bits[lane * shape.pitch + word] = mine;
  }
  return finite;
}

/// Calls EACH(first, count, bits) for every band of this block's rows. Returns false if a row does not fit the buffer.
/// FINITE becomes false if the thread reads a value that is not.
template <typename Spec, typename T, typename Each>
__device__ __forceinline__ bool for_each_band(const T* grids, const float* rows, const float* geometry, bool& finite,
                                              const Each& each) {
  __shared__ MaskLook look;
  __shared__ uint32 bits[kMaskWords];
  const int32 object = blockIdx.x / kMaskBlocks;
  const int32 part = blockIdx.x % kMaskBlocks;
  if ((threadIdx.x & 31) == 0 && threadIdx.x < 64)
    look.axes[threadIdx.x / 32] = look_along<Spec>(geometry, rows + 6 * object, threadIdx.x / 32);
  __syncthreads();
  const int32 height = look.axes[1].end - look.axes[1].begin;
  if (height <= 0 || look.axes[0].end <= look.axes[0].begin) return true;
  const MaskBits shape(look.axes[0]);
  if (shape.rows == 0) return false;
  const T* grid = grids + static_cast<int64>(object) * Spec::kObjectStride;
  const int32 end = look.axes[1].begin + static_cast<int32>(static_cast<int64>(height) * (part + 1) / kMaskBlocks);
  for (int32 first = look.axes[1].begin + static_cast<int32>(static_cast<int64>(height) * part / kMaskBlocks);
       first < end; first += shape.rows) {
    const int32 count = end - first < shape.rows ? end - first : shape.rows;
    finite &= sample_rows<Spec>(grid, look, shape, first, count, bits);
    __syncthreads();
    each(look, shape, first, count, bits);
    __syncthreads();
  }
  return true;
}

__device__ __forceinline__ int32 sum_of_warp(int32 value) {
  for (int32 step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
  return value;
}

/// NUMBERS of a block: runs, area and fault bits.
template <typename Spec, typename T>
__device__ __forceinline__ void count_runs(const T* grids, const int32* count, const float* rows, const float* geometry,
                                           int32* numbers) {
  if (static_cast<int32>(blockIdx.x / kMaskBlocks) >= *count) return;
  int32 runs = 0;
  int32 area = 0;
  const auto add = [&](const MaskLook&, const MaskBits& shape, int32, int32 rows_there, const uint32* bits) {
    for (int32 row = threadIdx.x / 32; row < rows_there; row += kMaskWarps) {
      const uint32* line = bits + row * shape.pitch;
      for (int32 i = threadIdx.x & 31; i < shape.words; i += 32) {
        runs += __popc(line[i] & ~(line[i] << 1 | MaskBits::before(line, i)));
        area += __popc(line[i]);
      }
    }
  };
  bool finite = true;
  const bool fits = for_each_band<Spec>(grids, rows, geometry, finite, add);
  runs = block_prefix<kMaskThreads>(runs).all;
  area = block_prefix<kMaskThreads>(area).all;
  const bool is_wrong = __syncthreads_or(!finite) != 0;
  if (threadIdx.x != 0) return;
  numbers[kMaskNumbers * blockIdx.x] = fits ? runs : Spec::kCapacity + 1;
  numbers[kMaskNumbers * blockIdx.x + 1] = area;
  numbers[kMaskNumbers * blockIdx.x + 2] = is_wrong ? static_cast<int32>(kNotFiniteMask) : 0;
}

/// First run of this block and total of all, saturated above the capacity.
template <typename Spec>
__device__ __forceinline__ Prefix runs_before(const int32* numbers, int32 blocks) {
  int64 before = 0;
  int64 all = 0;
  for (int32 i = threadIdx.x; i < blocks; i += kMaskThreads) {
    all += numbers[kMaskNumbers * i];
    if (i < static_cast<int32>(blockIdx.x)) before += numbers[kMaskNumbers * i];
  }
  constexpr int64 kMost = Spec::kCapacity + 1;
  return {block_prefix<kMaskThreads>(static_cast<int32>(before < kMost ? before : kMost)).all,
          block_prefix<kMaskThreads>(static_cast<int32>(all < kMost ? all : kMost)).all};
}

/// Writes the runs of one row, by a warp, from index AT on. The N-th begin and the N-th end belong to the same run.
__device__ __forceinline__ void write_row(const uint32* line, int32 words, int32 x, int32 y, int32 at, int32* runs) {
  const int32 lane = threadIdx.x & 31;
  for (int32 first = 0; first < words; first += 32) {
    const int32 i = first + lane;
    const uint32 inside = i < words ? line[i] : 0u;
    const uint32 before = i < words ? MaskBits::before(line, i) : 0u;
    const uint32 shifted = inside << 1 | before;
    const int32 own = __popc(inside & ~shifted);
    int32 sum = own;
    for (int32 step = 1; step < 32; step *= 2) {
      const int32 other = __shfl_up_sync(0xFFFFFFFFu, sum, step);
      if (lane >= step) sum += other;
    }
    int32 place = at + sum - own;
    int32 ended = place - static_cast<int32>(before);
    for (uint32 begins = inside & ~shifted; begins != 0; begins &= begins - 1, ++place) {
      runs[3 * place] = y;
      runs[3 * place + 1] = x + 32 * i + __ffs(begins) - 1;
    }
    for (uint32 ends = shifted & ~inside; ends != 0; ends &= ends - 1, ++ended)
      runs[3 * ended + 2] = x + 32 * i + __ffs(ends) - 1;
    at += __shfl_sync(0xFFFFFFFFu, sum, 31);
  }
}

template <typename Spec, typename T>
__device__ __forceinline__ void write_runs(const T* grids, const int32* count, const float* rows, const float* geometry,
                                           const int32* numbers, int32* runs, int32* objects, int32* used,
                                           int32* untraced, int32* fault_bits) {
  __shared__ int32 row_runs[32];
  const int32 there = *count < 0 ? 0 : *count < Spec::kObjects ? *count : Spec::kObjects;
  const int32 object = blockIdx.x / kMaskBlocks;
  if (object >= there && blockIdx.x != 0) return;
  const Prefix place = runs_before<Spec>(numbers, there * kMaskBlocks);
  const bool fits = place.all <= Spec::kCapacity;
  if (blockIdx.x == 0) {
    uint32 faults = 0;
    for (int32 i = threadIdx.x; i < there * kMaskBlocks; i += kMaskThreads)
      faults |= static_cast<uint32>(numbers[kMaskNumbers * i + 2]);
    faults = faults_of_block(faults);
    if (threadIdx.x == 0) {
      *used = fits ? place.all : 0;
      *untraced = fits ? 0 : there;
      *fault_bits = fits ? static_cast<int32>(faults) : 0;
    }
  }
  if (!fits || object >= there) return;
  if (blockIdx.x % kMaskBlocks == 0 && threadIdx.x < 2) {
    int32 sum = 0;
    for (int32 i = 0; i < kMaskBlocks; ++i) sum += numbers[kMaskNumbers * (blockIdx.x + i) + threadIdx.x];
    objects[2 * object + threadIdx.x] = sum;
  }
  if (numbers[kMaskNumbers * blockIdx.x] == 0) return;
  const int32 lane = threadIdx.x & 31;
  int32 at = place.before;
  const auto write = [&](const MaskLook& look, const MaskBits& shape, int32 first, int32 rows_there,
                         const uint32* bits) {
    for (int32 row = threadIdx.x / 32; row < rows_there; row += kMaskWarps) {
      const uint32* line = bits + row * shape.pitch;
      int32 own = 0;
      for (int32 i = lane; i < shape.words; i += 32)
        own += __popc(line[i] & ~(line[i] << 1 | MaskBits::before(line, i)));
      own = sum_of_warp(own);
      if (lane == 0) row_runs[row] = own;
    }
    __syncthreads();
    const int32 of_lane = lane < rows_there ? row_runs[lane] : 0;
    for (int32 row = threadIdx.x / 32; row < rows_there; row += kMaskWarps)
      write_row(bits + row * shape.pitch, shape.words, look.axes[0].begin, first + row,
                at + sum_of_warp(lane < row ? of_lane : 0), runs);
    at += sum_of_warp(of_lane);
  };
  bool finite = true;
  for_each_band<Spec>(grids, rows, geometry, finite, write);
}
