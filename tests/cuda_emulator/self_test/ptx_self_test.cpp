#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "self_test/emulated_device.hpp"

// Tests ptx.cuh and the conversions of types.cuh against plain loops. The kernels fill fragments by the formulas of the
// PTX manual, independently of the emulator.
namespace saccade::emulator {
namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result(count);
  // Multiples of 1/8 below 8 in magnitude are exact in every type.
  for (float& x : result) x = static_cast<float>(static_cast<int>(random() % 127) - 63) / 8;
  return result;
}

/// A of 16 rows and B of 8 columns, both row-major.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, std::size_t depth) {
  std::vector<float> d(16 * 8, 1.0F);
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      for (std::size_t k = 0; k < depth; ++k) d[8 * i + j] += a[depth * i + k] * b[8 * k + j];
  return d;
}

std::string half_product(const std::string& type) {
  return R"(
#include "ptx.cuh"
using T = )" +
         type + R"(;
__device__ uint32 pair(float low, float high) {
  return Narrow<T>::from(low).bits | static_cast<uint32>(Narrow<T>::from(high).bits) << 16;
}
extern "C" __global__ void k(const float* a, const float* b, float* d) {
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  uint32 of_a[4], of_b[2];
  const float* row = a + 16 * g + 2 * t;
  of_a[0] = pair(row[0], row[1]);
  of_a[1] = pair(row[128], row[129]);
  of_a[2] = pair(row[8], row[9]);
  of_a[3] = pair(row[136], row[137]);
  for (int i = 0; i < 2; ++i) of_b[i] = pair(b[8 * (2 * t + 8 * i) + g], b[8 * (2 * t + 8 * i + 1) + g]);
  float of_d[4] = {1, 1, 1, 1};
  mma_m16n8k16<T>(of_d, of_a, of_b);
  d[8 * g + 2 * t] = of_d[0];
  d[8 * g + 2 * t + 1] = of_d[1];
  d[8 * (g + 8) + 2 * t] = of_d[2];
  d[8 * (g + 8) + 2 * t + 1] = of_d[3];
})";
}

TEST(EmulatedPtx, MultipliesBytes) {
  for (const bool is_signed : {true, false}) {
    EmulatedDevice device;
    std::mt19937 random(3);
    std::vector<std::uint8_t> a(16 * 32);
    std::vector<std::int8_t> b(32 * 8);
    for (auto& byte : a) byte = static_cast<std::uint8_t>(random());
    for (auto& byte : b) byte = static_cast<std::int8_t>(random());
    const CUfunction kernel = device.kernel(std::string(R"(
#include "ptx.cuh"
extern "C" __global__ void k(const uint8* a, const uint8* b, int32* d) {
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  uint32 of_a[4] = {}, of_b[2] = {};
  for (int byte = 0; byte < 4; ++byte) {
    of_a[0] |= static_cast<uint32>(a[32 * g + 4 * t + byte]) << 8 * byte;
    of_a[1] |= static_cast<uint32>(a[32 * (g + 8) + 4 * t + byte]) << 8 * byte;
    of_a[2] |= static_cast<uint32>(a[32 * g + 16 + 4 * t + byte]) << 8 * byte;
    of_a[3] |= static_cast<uint32>(a[32 * (g + 8) + 16 + 4 * t + byte]) << 8 * byte;
    of_b[0] |= static_cast<uint32>(b[8 * (4 * t + byte) + g]) << 8 * byte;
    of_b[1] |= static_cast<uint32>(b[8 * (16 + 4 * t + byte) + g]) << 8 * byte;
  }
  int32 of_d[4] = {1, 1, 1, 1};
  mma_m16n8k32<)") + (is_signed ? "int8" : "uint8") +
                                            R"(>(of_d, of_a, of_b);
  for (int i = 0; i < 4; ++i) d[8 * (g + 8 * (i / 2)) + 2 * t + i % 2] = of_d[i];
})");
    const CUdeviceptr to = device.upload(std::vector<std::int32_t>(16 * 8, 0));
    ASSERT_EQ(device.run(kernel, 1, 32, {device.upload(a), device.upload(b), to}), CUDA_SUCCESS);
    std::vector<std::int32_t> wanted(16 * 8, 1);
    for (std::size_t i = 0; i < 16; ++i)
      for (std::size_t j = 0; j < 8; ++j)
        for (std::size_t k = 0; k < 32; ++k)
          wanted[8 * i + j] += (is_signed ? static_cast<std::int8_t>(a[32 * i + k]) : a[32 * i + k]) * b[8 * k + j];
    EXPECT_EQ(device.download<std::int32_t>(to, 16 * 8), wanted);
  }
}

TEST(EmulatedPtx, MultipliesHalfPrecision) {
  for (const char* type : {"float16", "bfloat16"}) {
    EmulatedDevice device;
    const auto a = numbers(16 * 16, 1);
    const auto b = numbers(16 * 8, 2);
    const CUdeviceptr d = device.allocate(16 * 8 * 4);
    const CUfunction kernel = device.kernel(half_product(type));
    ASSERT_EQ(device.run(kernel, 1, 32, {device.upload(a), device.upload(b), d}), CUDA_SUCCESS);
    EXPECT_EQ(device.download<float>(d, 16 * 8), product(a, b, 16)) << type;
  }
}

TEST(EmulatedPtx, MultipliesTf32) {
  EmulatedDevice device;
  const auto a = numbers(16 * 8, 3);
  const auto b = numbers(8 * 8, 4);
  const CUdeviceptr d = device.allocate(16 * 8 * 4);
  const CUfunction kernel = device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void k(const float* a, const float* b, float* d) {
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  const uint32 of_a[4] = {to_tf32(a[8 * g + t]), to_tf32(a[8 * (g + 8) + t]), to_tf32(a[8 * g + t + 4]),
                          to_tf32(a[8 * (g + 8) + t + 4])};
  const uint32 of_b[2] = {to_tf32(b[8 * t + g]), to_tf32(b[8 * (t + 4) + g])};
  float of_d[4] = {1, 1, 1, 1};
  mma_m16n8k8_tf32(of_d, of_a, of_b);
  for (int i = 0; i < 4; ++i) d[8 * (g + (i >= 2 ? 8 : 0)) + 2 * t + (i & 1)] = of_d[i];
})");
  ASSERT_EQ(device.run(kernel, 1, 32, {device.upload(a), device.upload(b), d}), CUDA_SUCCESS);
  EXPECT_EQ(device.download<float>(d, 16 * 8), product(a, b, 8));
}

TEST(EmulatedPtx, LoadsMatrices) {
  EmulatedDevice device;
  const CUdeviceptr x = device.allocate(2 * 32 * 4 * sizeof(unsigned));
  const CUfunction kernel = device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void k(uint32* x) {
  __shared__ __align__(16) uint16 tile[32 * 8];
  for (int i = 0; i < 8; ++i) tile[8 * threadIdx.x + i] = 8 * threadIdx.x + i;
  __syncwarp();
  uint32 matrix[4];
  ldmatrix_x4(matrix, tile + 8 * threadIdx.x);
  for (int i = 0; i < 4; ++i) x[4 * threadIdx.x + i] = matrix[i];
  ldmatrix_x4_trans(matrix, tile + 8 * threadIdx.x);
  for (int i = 0; i < 4; ++i) x[128 + 4 * threadIdx.x + i] = matrix[i];
})");
  ASSERT_EQ(device.run(kernel, 1, 32, {x}), CUDA_SUCCESS);
  const auto got = device.download<unsigned>(x, 256);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      // Element (row, column) of matrix i holds 64 i + 8 row + column.
      const unsigned first = 64 * i + 8 * (lane / 4) + 2 * (lane % 4);
      EXPECT_EQ(got[4 * lane + i], first | (first + 1) << 16);
      const unsigned turned = 64 * i + 8 * (2 * (lane % 4)) + lane / 4;
      EXPECT_EQ(got[128 + 4 * lane + i], turned | (turned + 8) << 16);
    }
}

TEST(EmulatedPtx, MultipliesOnAWarpgroupWhenWaitedFor) {
  EmulatedDevice device;
  const auto a = numbers(64 * 64, 5);
  const auto b = numbers(24 * 64, 6);
  const CUdeviceptr d = device.allocate(65 * 24 * sizeof(float));
  const CUfunction kernel = device.kernel(R"(
#include "warpgroup.cuh"
extern "C" __global__ void k(const float* a, const float* b, float* d) {
  extern __shared__ __align__(1024) unsigned char rows[];
  for (int i = threadIdx.x; i < 88 * 64; i += 128) {
    const int row = i >> 6, chunk = (i >> 3) & 7;
    const float x = i < 64 * 64 ? a[i] : b[i - 64 * 64];
    *reinterpret_cast<float16*>(rows + row * 128 + (chunk ^ (row & 7)) * 16 + (i & 7) * 2) = to_float16(x);
  }
  fence_proxy_async();
  __syncthreads();
  float sums[12];
  for (int i = 0; i < 12; ++i) sums[i] = 1;
  wgmma_fence();
  for (int k = 0; k < 4; ++k)
    wgmma_ss<float16, 24>(sums, advance_descriptor(k_major_descriptor(rows), 32 * k),
                                        advance_descriptor(k_major_descriptor(rows + 64 * 128), 32 * k));
  wgmma_commit();
  if (threadIdx.x < 12) d[64 * 24 + threadIdx.x] = sums[threadIdx.x];
  wgmma_wait<0>();
  fence_operand(sums);
  const int warp = threadIdx.x >> 5, g = (threadIdx.x >> 2) & 7, q = threadIdx.x & 3;
  for (int i = 0; i < 12; ++i)
    d[(16 * warp + g + ((i >> 1) & 1) * 8) * 24 + (i >> 2) * 8 + 2 * q + (i & 1)] = sums[i];
})");
  ASSERT_EQ(device.run(kernel, 1, 128, {device.upload(a), device.upload(b), d}, 88 * 128), CUDA_SUCCESS);
  std::vector<float> wanted(65 * 24, 1.0F);
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < 24; ++j)
      for (std::size_t k = 0; k < 64; ++k) wanted[24 * i + j] += a[64 * i + k] * b[64 * j + k];
  wanted.resize(64 * 24 + 12);
  EXPECT_EQ(device.download<float>(d, 64 * 24 + 12), wanted);
}

TEST(EmulatedPtx, MultipliesRegistersByColumnsOnAWarpgroup) {
  EmulatedDevice device;
  const auto a = numbers(64 * 16, 7);
  const auto b = numbers(16 * 64, 8);
  const CUdeviceptr d = device.allocate(64 * 48 * sizeof(float));
  const CUfunction kernel = device.kernel(R"(
#include "warpgroup.cuh"
extern "C" __global__ void k(const float* a, const float* b, float* d) {
  extern __shared__ __align__(1024) unsigned char rows[];
  for (int i = threadIdx.x; i < 16 * 64; i += 128) {
    const int row = i >> 6, chunk = (i >> 3) & 7;
    *reinterpret_cast<float16*>(rows + row * 128 + (chunk ^ (row & 7)) * 16 + (i & 7) * 2) = to_float16(b[i]);
  }
  fence_proxy_async();
  __syncthreads();
  const int warp = threadIdx.x >> 5, g = (threadIdx.x >> 2) & 7, q = threadIdx.x & 3;
  uint32 left[4];
  for (int i = 0; i < 4; ++i) {
    const float* two = a + (16 * warp + g + (i & 1) * 8) * 16 + (i >> 1) * 8 + 2 * q;
    left[i] = pack2<float16>(two[0], two[1]);
  }
  float sums[24];
  for (int i = 0; i < 24; ++i) sums[i] = 1;
  wgmma_fence();
  wgmma_rs<float16, 48>(sums, left, mn_major_descriptor(rows));
  wgmma_commit();
  wgmma_wait<0>();
  fence_operand(sums);
  for (int i = 0; i < 24; ++i)
    d[(16 * warp + g + ((i >> 1) & 1) * 8) * 48 + (i >> 2) * 8 + 2 * q + (i & 1)] = sums[i];
})");
  ASSERT_EQ(device.run(kernel, 1, 128, {device.upload(a), device.upload(b), d}, 16 * 128), CUDA_SUCCESS);
  std::vector<float> wanted(64 * 48, 1.0F);
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < 48; ++j)
      for (std::size_t k = 0; k < 16; ++k) wanted[48 * i + j] += a[16 * i + k] * b[64 * k + j];
  EXPECT_EQ(device.download<float>(d, 64 * 48), wanted);
}

TEST(EmulatedPtx, CopiesWhenWaitedFor) {
  EmulatedDevice device;
  const CUdeviceptr from = device.upload(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
  const CUdeviceptr to = device.allocate(16 * sizeof(int));
  const CUfunction kernel = device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void k(const int* from, int* to) {
  __shared__ __align__(16) int tile[12];
  cp_async_16(tile, from, true);
  cp_async_commit();
  cp_async_16(tile + 4, from + 4, false);
  cp_async_4(tile + 8, from + 7, true);
  cp_async_commit();
  to[12] = tile[0];
  cp_async_wait<1>();
  to[13] = tile[0];
  to[14] = tile[4];
  cp_async_wait<0>();
  for (int i = 0; i < 12; ++i) to[i] = tile[i];
})");
  ASSERT_EQ(device.run(kernel, 1, 1, {from, to}), CUDA_SUCCESS);
  EXPECT_EQ(device.download<int>(to, 15), (std::vector<int>{1, 2, 3, 4, 0, 0, 0, 0, 8, -1, -1, -1, -1, 1, -1}));
}

TEST(EmulatedPtx, ConvertsEveryHalfAndBack) {
  EmulatedDevice device;
  const CUdeviceptr wide = device.allocate(65536 * 4);
  const CUdeviceptr back = device.allocate(65536 * 4);
  const CUfunction kernel = device.kernel(R"(
#include "types.cuh"
extern "C" __global__ void k(float* wide, uint32* back) {
  const uint32 i = blockIdx.x * blockDim.x + threadIdx.x;
  wide[i] = widen(float16{static_cast<uint16>(i)});
  const bfloat16 brain = to_bfloat16(widen(bfloat16{static_cast<uint16>(i)}));
  back[i] = to_float16(wide[i]).bits | static_cast<uint32>(brain.bits) << 16;
})");
  ASSERT_EQ(device.run(kernel, 256, 256, {wide, back}), CUDA_SUCCESS);
  const auto wides = device.download<float>(wide, 65536);
  const auto backs = device.download<unsigned>(back, 65536);
  for (unsigned i = 0; i < 65536; ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31U);
    const float fraction = static_cast<float>(i & 1023U);
    const bool nan = exponent == 31 && fraction != 0;
    const float magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                            : exponent == 31 ? INFINITY
                                             : std::ldexp(1024 + fraction, exponent - 25);
    if (!nan) {
      ASSERT_EQ(wides[i], (i & 0x8000U) != 0 ? -magnitude : magnitude) << i;
    }
    ASSERT_EQ(backs[i] & 0xFFFFU, nan ? 0x7FFFU : i) << i;
    ASSERT_EQ(backs[i] >> 16, (i & 0x7FFFU) > 0x7F80U ? 0x7FFFU : i) << i;
  }
}

TEST(EmulatedPtx, RoundsToEven) {
  EmulatedDevice device;
  const CUdeviceptr x =
      device.upload(std::vector<float>{2049, 2051, 65519, 65520, -1e9F, 0x1p-25F, 0x1.8p-25F, 0x1.ffep-15F,
                                       0x1.fffp-15F, 1 + 0x1p-8F, 1 + 0x3p-8F, 0x1.fffffep127F});
  const CUdeviceptr y = device.allocate(12 * 4);
  const CUfunction kernel = device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void k(const float* x, uint32* y) {
  for (int i = 0; i < 9; ++i) y[i] = to_float16(x[i]).bits;
  for (int i = 9; i < 12; ++i) y[i] = to_bfloat16(x[i]).bits;
})");
  ASSERT_EQ(device.run(kernel, 1, 1, {x, y}), CUDA_SUCCESS);
  EXPECT_EQ(device.download<unsigned>(y, 12), (std::vector<unsigned>{0x6800, 0x6802, 0x7BFF, 0x7C00, 0xFC00, 0, 1,
                                                                     0x0400, 0x0400, 0x3F80, 0x3F82, 0x7F80}));
}

TEST(EmulatedPtx, RoundsPairsAndRaisesTwoToPowers) {
  EmulatedDevice device;
  const CUdeviceptr x = device.upload(std::vector<float>{1, -2, 3, -INFINITY, -130});
  const CUdeviceptr y = device.allocate(5 * 4);
  const CUfunction kernel = device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void k(const float* x, uint32* y) {
  y[0] = pack2<float16>(x[0], x[1]);
  y[1] = pack2<bfloat16>(x[0], x[1]);
  for (int i = 2; i < 5; ++i) y[i] = __float_as_uint(exp2_approx(x[i]));
})");
  ASSERT_EQ(device.run(kernel, 1, 1, {x, y}), CUDA_SUCCESS);
  EXPECT_EQ(device.download<unsigned>(y, 5), (std::vector<unsigned>{0xC0003C00, 0xC0003F80, 0x41000000, 0, 0}));
}

TEST(EmulatedPtx, RoundsToTf32AwayFromZero) {
  EmulatedDevice device;
  const CUdeviceptr x = device.upload(std::vector<float>{1 + 0x1p-11F, -1 - 0x1p-11F, 1 + 0x1.fp-12F, INFINITY});
  const CUdeviceptr y = device.allocate(4 * 4);
  const CUfunction kernel = device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void k(const float* x, uint32* y) { y[threadIdx.x] = to_tf32(x[threadIdx.x]); })");
  ASSERT_EQ(device.run(kernel, 1, 4, {x, y}), CUDA_SUCCESS);
  EXPECT_EQ(device.download<float>(y, 4), (std::vector<float>{1 + 0x1p-10F, -1 - 0x1p-10F, 1, INFINITY}));
}

}  // namespace
}  // namespace saccade::emulator
