#pragma once

// The instructions of ptx.cuh, by PTX's definition. Fragment layouts, with g = lane / 4 and t = lane % 4:
//   A 16x16:        register i holds row g + 8 (i % 2), columns 2 t + 8 (i / 2) and the next (low half first)
//   B 16x8:         register i holds rows 2 t + 8 i and the next, column g
//   A 16x32, B 32x8 of bytes: the same, with two adjacent bytes in place of a 16-bit element
//   A 16x8 (tf32):  register i holds row g + 8 (i % 2), column t + 4 (i / 2); B 8x8: row t + 4 i, column g
//   D 16x8:         element i is row g + 8 (i / 2), column 2 t + i % 2

inline void cp_async_16(void* shared, const void* global, bool valid, SACCADE_PLACE) {
  cpu::runtime.cp_async({"cp_async_16", file, line}, shared, global, 16, valid ? 16 : 0);
}
inline void cp_async_4(void* shared, const void* global, bool valid, SACCADE_PLACE) {
  cpu::runtime.cp_async({"cp_async_4", file, line}, shared, global, 4, valid ? 4 : 0);
}
inline void cp_async_commit() { cpu::runtime.cp_async_commit(); }
template <int Pending>
inline void cp_async_wait() {
  cpu::runtime.cp_async_wait(Pending);
}

namespace cpu {

/// .aligned: all lanes of the warp are present.
inline void expect_warp(const Site& site, void* const* lanes) {
  for (int lane = 0; lane < 32; ++lane)
    if (lanes[lane] == nullptr) runtime.fail(site, "not all 32 lanes of the warp are there");
}

struct MatrixLoad {
  Site site;
  const void* row;
  uint32* matrix;
};
template <bool Transposed>
inline void load_for_warp(void* const* lanes, unsigned) {
  const auto load = [lanes](int lane) -> MatrixLoad& { return *static_cast<MatrixLoad*>(lanes[lane]); };
  for (int lane = 0; lane < 32; ++lane)
    if (lanes[lane] == nullptr) return expect_warp(Site{"ldmatrix_x4", "ptx.cuh", 0}, lanes);
  uint16 element[4][8][8];
  for (int lane = 0; lane < 32; ++lane) {
    const void* row = load(lane).row;
    if (bit_cast<size_t>(row) % 16 != 0) runtime.fail(load(lane).site, "a row's address is no multiple of 16");
    if (!runtime.is_shared(row)) runtime.fail(load(lane).site, "a row does not lie in shared memory");
    __builtin_memcpy(element[lane / 8][lane % 8], row, 16);
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int g = lane / 4;
      const int t = lane % 4;
      const uint32 low = Transposed ? element[i][2 * t][g] : element[i][g][2 * t];
      const uint32 high = Transposed ? element[i][2 * t + 1][g] : element[i][g][2 * t + 1];
      load(lane).matrix[i] = low | high << 16;
    }
}
struct Multiplication {
  Site site;
  float* d;
  const uint32* a;
  const uint32* b;
};
/// D += A B with COLUMNS columns of A. Sums are exact and rounded once, within what PTX guarantees.
template <int Columns>
inline void multiply(void* const* lanes, const double (&a)[16][Columns], const double (&b)[Columns][8]) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + 8 * (i / 2);
      const int column = 2 * (lane % 4) + i % 2;
      float& d = static_cast<Multiplication*>(lanes[lane])->d[i];
      double sum = d;
      for (int k = 0; k < Columns; ++k) sum += a[row][k] * b[k][column];
      d = static_cast<float>(sum);
    }
}
template <typename T>
inline void multiply_for_warp(void* const* lanes, unsigned) {
  expect_warp({"mma_m16n8k16", "ptx.cuh", 0}, lanes);
  const auto half = [](uint32 pair, int i) { return widen(T{static_cast<uint16>(pair >> 16 * i)}); };
  double a[16][16];
  double b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<Multiplication*>(lanes[lane]);
    const int g = lane / 4;
    const int t = lane % 4;
    for (int h = 0; h < 2; ++h) {
      for (int i = 0; i < 4; ++i) a[g + 8 * (i % 2)][2 * t + h + 8 * (i / 2)] = half(mine.a[i], h);
      for (int i = 0; i < 2; ++i) b[2 * t + h + 8 * i][g] = half(mine.b[i], h);
    }
  }
  multiply(lanes, a, b);
}
struct ByteMultiplication {
  Site site;
  int32* d;
  const uint32* a;
  const uint32* b;
};
template <typename Byte>
inline void multiply_bytes_for_warp(void* const* lanes, unsigned) {
  expect_warp({"mma_m16n8k32", "ptx.cuh", 0}, lanes);
  int32 a[16][32];
  int32 b[32][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<ByteMultiplication*>(lanes[lane]);
    const int g = lane / 4;
    const int t = lane % 4;
    for (int byte = 0; byte < 4; ++byte) {
      for (int i = 0; i < 4; ++i)
        a[g + 8 * (i % 2)][4 * t + byte + 16 * (i / 2)] = static_cast<Byte>(mine.a[i] >> 8 * byte);
      for (int i = 0; i < 2; ++i) b[4 * t + byte + 16 * i][g] = static_cast<int8>(mine.b[i] >> 8 * byte);
    }
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 32; ++k)
        static_cast<ByteMultiplication*>(lanes[lane])->d[i] +=
            a[lane / 4 + 8 * (i / 2)][k] * b[k][2 * (lane % 4) + i % 2];
}
inline void multiply_tf32_for_warp(void* const* lanes, unsigned) {
  expect_warp({"mma_m16n8k8_tf32", "ptx.cuh", 0}, lanes);
  // tf32 ignores the lower 13 bits of a float32.
  const auto number = [](uint32 bits) { return __uint_as_float(bits & 0xFFFFE000U); };
  double a[16][8];
  double b[8][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<Multiplication*>(lanes[lane]);
    const int g = lane / 4;
    const int t = lane % 4;
    for (int i = 0; i < 4; ++i) a[g + 8 * (i % 2)][t + 4 * (i / 2)] = number(mine.a[i]);
    for (int i = 0; i < 2; ++i) b[t + 4 * i][g] = number(mine.b[i]);
  }
  multiply(lanes, a, b);
}

}  // namespace cpu

inline void ldmatrix_x4(uint32 (&matrix)[4], const void* shared_row, SACCADE_PLACE) {
  cpu::MatrixLoad mine{{"ldmatrix_x4", file, line}, shared_row, matrix};
  cpu::runtime.wait_warp(mine.site, ~0U, &mine, cpu::load_for_warp<false>);
}
inline void ldmatrix_x4_trans(uint32 (&matrix)[4], const void* shared_row, SACCADE_PLACE) {
  cpu::MatrixLoad mine{{"ldmatrix_x4_trans", file, line}, shared_row, matrix};
  cpu::runtime.wait_warp(mine.site, ~0U, &mine, cpu::load_for_warp<true>);
}

template <typename T>
inline void mma_m16n8k16(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2], SACCADE_PLACE) {
  cpu::Multiplication mine{{"mma_m16n8k16", file, line}, d, a, b};
  cpu::runtime.wait_warp(mine.site, ~0U, &mine, cpu::multiply_for_warp<T>);
}
template <typename Byte>
inline void mma_m16n8k32(int32 (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2], SACCADE_PLACE) {
  cpu::ByteMultiplication mine{{"mma_m16n8k32", file, line}, d, a, b};
  cpu::runtime.wait_warp(mine.site, ~0U, &mine, cpu::multiply_bytes_for_warp<Byte>);
}
inline void mma_m16n8k8_tf32(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2], SACCADE_PLACE) {
  cpu::Multiplication mine{{"mma_m16n8k8_tf32", file, line}, d, a, b};
  cpu::runtime.wait_warp(mine.site, ~0U, &mine, cpu::multiply_tf32_for_warp);
}
inline uint32 to_tf32(float x) {
  const uint32 bits = __float_as_uint(x);
  if ((bits & 0x7F800000U) == 0x7F800000U) return (bits & 0x007FFFFFU) != 0 ? 0x7FFFFFFFU : bits;
  return (bits + 0x1000U) & 0xFFFFE000U;
}

template <typename T>
inline uint32 pack2(float low, float high) {
  return Narrow<T>::from(low).bits | static_cast<uint32>(Narrow<T>::from(high).bits) << 16;
}
inline float exp2_approx(float x) {
  const float power = exp2f(x);
  return power < 0x1p-126F ? 0.0F : power;
}

// Clusters and mbarriers.
inline void mbarrier_init(uint64* barrier, int arrivals = 1) {
  cpu::runtime.mbarrier_init(barrier, static_cast<unsigned>(arrivals));
}
inline void fence_mbarrier_init() {}
inline void mbarrier_arrive_expect_tx(uint64* barrier, int bytes) {
  cpu::runtime.mbarrier_arrive_expect_tx(barrier, bytes);
}
inline void mbarrier_arrive(uint64* barrier) { cpu::runtime.mbarrier_arrive(barrier); }
inline void cp_async_mbarrier_arrive(uint64* barrier) { cpu::runtime.cp_async_mbarrier_arrive(barrier); }
inline void mbarrier_wait(uint64* barrier, int parity) {
  cpu::runtime.mbarrier_wait(barrier, static_cast<unsigned>(parity));
}
inline void cp_async_bulk(void* shared, const void* global, int bytes, uint64* barrier) {
  cpu::runtime.cp_async_bulk(shared, global, static_cast<unsigned>(bytes), barrier);
}
inline void prefetch_bulk_l2(const void* global, int bytes, SACCADE_PLACE) {
  if (cpu::bit_cast<size_t>(global) % 16 != 0 || bytes % 16 != 0)
    cpu::runtime.fail({"prefetch_bulk_l2", file, line}, "an address or length is no multiple of 16");
}
inline void st_async_dsmem(int peer, void* shared, float4 value, uint64* barrier) {
  cpu::runtime.st_async_dsmem(static_cast<unsigned>(peer), shared, &value, sizeof value, barrier);
}
inline void cluster_arrive() { cpu::runtime.cluster_arrive(); }
inline void cluster_wait() { cpu::runtime.cluster_wait(); }
