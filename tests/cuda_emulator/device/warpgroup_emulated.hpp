#pragma once

// The instructions of warpgroup.cuh, by PTX's definition. Every lane computes its own accumulators when it waits for
// them.

namespace cpu {

struct WarpgroupProduct {
  float* d;
  const unsigned char* a;
  const unsigned char* b;
  int warp, lane;
};
/// Element K of row ROW after ROWS, under the 128-byte swizzle.
template <typename T>
inline float swizzled(const unsigned char* rows, int row, int k) {
  const size_t at = bit_cast<size_t>(rows) + static_cast<size_t>(row) * 128 + static_cast<size_t>(k) * 2;
  T half;
  __builtin_memcpy(&half, bit_cast<const unsigned char*>(at ^ (at >> 7 & 7) << 4), 2);
  return widen(half);
}
template <typename T, int N>
inline void work_out(const void* data) {
  WarpgroupProduct product;
  __builtin_memcpy(&product, data, sizeof product);
  const int g = product.lane / 4;
  const int q = product.lane % 4;
  float a[2][16];
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 16; ++k) a[i][k] = swizzled<T>(product.a, 16 * product.warp + g + 8 * i, k);
  for (int j = 0; j < N / 8; ++j)
    for (int e = 0; e < 2; ++e) {
      double sums[2] = {product.d[4 * j + e], product.d[4 * j + 2 + e]};
      for (int k = 0; k < 16; ++k) {
        const double b = swizzled<T>(product.b, 8 * j + 2 * q + e, k);
        for (int i = 0; i < 2; ++i) sums[i] += a[i][k] * b;
      }
      for (int i = 0; i < 2; ++i) product.d[4 * j + 2 * i + e] = static_cast<float>(sums[i]);
    }
}

struct ColumnsProduct {
  float* d;
  const unsigned char* b;
  int lane;
  float a[2][16];  // rows g and g + 8
};
template <typename T, int N>
inline void work_out_columns(const void* data) {
  ColumnsProduct product;
  __builtin_memcpy(&product, data, sizeof product);
  for (int j = 0; j < N / 8; ++j)
    for (int e = 0; e < 2; ++e)
      for (int i = 0; i < 2; ++i) {
        float& d = product.d[4 * j + 2 * i + e];
        double sum = d;
        for (int k = 0; k < 16; ++k)
          sum += static_cast<double>(product.a[i][k]) * swizzled<T>(product.b, k, 8 * j + 2 * (product.lane % 4) + e);
        d = static_cast<float>(sum);
      }
}
/// A lane's fragment of A, and room for its two whole rows.
struct RowExchange {
  Site site;
  const uint32* a;
  float (*rows)[16];
};
template <typename T>
inline void exchange_rows(void* const* lanes, unsigned) {
  expect_warp({"wgmma_rs", "warpgroup.cuh", 0}, lanes);
  for (int lane = 0; lane < 32; ++lane)
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 2; ++i) {
        const auto& owner = *static_cast<RowExchange*>(lanes[lane / 4 * 4 + k % 8 / 2]);
        const uint32 pair = owner.a[i + k / 8 * 2];
        static_cast<RowExchange*>(lanes[lane])->rows[i][k] = widen(T{static_cast<uint16>(pair >> 16 * (k % 2))});
      }
}
inline void expect_whole_warp(void* const* lanes, unsigned) { expect_warp({"products", "warpgroup.cuh", 0}, lanes); }

}  // namespace cpu

using SmemDescriptor = const unsigned char*;
inline SmemDescriptor k_major_descriptor(const void* shared, SACCADE_PLACE) {
  if (cpu::bit_cast<size_t>(shared) % 1024 != 0)
    cpu::runtime.fail({"k_major_descriptor", file, line}, "the address is no multiple of 1024");
  if (!cpu::runtime.is_shared(shared)) cpu::runtime.fail({"k_major_descriptor", file, line}, "not in shared memory");
  return static_cast<const unsigned char*>(shared);
}
inline SmemDescriptor mn_major_descriptor(const void* shared, SACCADE_PLACE) {
  return k_major_descriptor(shared, line, file);
}
inline SmemDescriptor advance_descriptor(SmemDescriptor rows, int bytes) { return rows + bytes; }

inline void fence_proxy_async() {}
inline void wgmma_fence(SACCADE_PLACE) {
  cpu::runtime.wait_warp({"wgmma_fence", file, line}, ~0U, const_cast<char*>(file), cpu::expect_whole_warp);
}
inline void wgmma_commit() { cpu::runtime.wgmma_commit(); }
template <int Pending>
inline void wgmma_wait(SACCADE_PLACE) {
  cpu::runtime.wgmma_wait(Pending);
  // All lanes' accumulators are complete before any lane proceeds.
  cpu::runtime.wait_warp({"wgmma_wait", file, line}, ~0U, const_cast<char*>(file), cpu::expect_whole_warp);
}
template <int Count>
inline void fence_operand(float (&)[Count]) {}

template <typename T, int N>
inline void wgmma_ss(float (&d)[N / 2], SmemDescriptor a, SmemDescriptor b, SACCADE_PLACE) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  const SmemDescriptor operands[] = {a, b};
  for (SmemDescriptor at : operands)
    if (cpu::bit_cast<size_t>(at) % 1024 >= 128 || cpu::bit_cast<size_t>(at) % 32 != 0)
      cpu::runtime.fail({"wgmma_ss", file, line}, "rows begin at another place than the first 128 bytes");
  if (!cpu::runtime.is_shared(a + 63 * 128) || !cpu::runtime.is_shared(b + (N - 1) * 128))
    cpu::runtime.fail({"wgmma_ss", file, line}, "an operand does not lie in shared memory");
  const auto thread = cpu::thread_number();
  const cpu::WarpgroupProduct product{d, a, b, static_cast<int>(thread / 32 % 4), static_cast<int>(thread % 32)};
  cpu::runtime.issue_wgmma(cpu::work_out<T, N>, &product, sizeof product);
}
template <typename T, int N>
inline void wgmma_rs(float (&d)[N / 2], const uint32 (&a)[4], SmemDescriptor b, SACCADE_PLACE) {
  static_assert(N % 16 == 0 && N >= 16 && N <= 64);
  const cpu::Site site{"wgmma_rs", file, line};
  if (cpu::bit_cast<size_t>(b) % 1024 != 0) cpu::runtime.fail(site, "rows begin at no multiple of 1024");
  if (!cpu::runtime.is_shared(b + 15 * 128)) cpu::runtime.fail(site, "an operand does not lie in shared memory");
  cpu::ColumnsProduct product{d, b, static_cast<int>(cpu::thread_number() % 32), {}};
  cpu::RowExchange mine{site, a, product.a};
  cpu::runtime.wait_warp(site, ~0U, &mine, cpu::exchange_rows<T>);
  cpu::runtime.issue_wgmma(cpu::work_out_columns<T, N>, &product, sizeof product);
}
