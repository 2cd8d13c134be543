#pragma once

#include "object.hpp"

// What NVRTC predefines. It is all in the unnamed namespace that also contains the kernel's source, so that a kernel's
// overloads join these and objects share nothing.

#define SACCADE_EMULATED 1
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __device__
#define __host__
#define __global__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// Blocks run one after the other, so one instance suffices. A section of its own lets the driver poison it before every
// block. NVRTC accepts alignas() after __shared__, unlike C++.
#define __shared__ static __attribute__((section("saccade_shared")))
#define alignas(n) __attribute__((aligned(n)))

extern "C" {
extern __attribute__((weak, visibility("hidden"))) unsigned char __start_saccade_shared[];
extern __attribute__((weak, visibility("hidden"))) unsigned char __stop_saccade_shared[];
}

using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));

namespace {
namespace cpu {  // names that CUDA does not have

using saccade_emulator::Site;
saccade_emulator::Runtime runtime;

}  // namespace cpu
}  // namespace

#include "vectors.hpp"

namespace {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
const uint3& threadIdx = reinterpret_cast<const uint3&>(cpu::runtime.thread);
const uint3& blockIdx = reinterpret_cast<const uint3&>(cpu::runtime.block);
const dim3& blockDim = reinterpret_cast<const dim3&>(cpu::runtime.threads);
const dim3& gridDim = reinterpret_cast<const dim3&>(cpu::runtime.blocks);
constexpr int warpSize = 32;

}  // namespace

#include "accesses.hpp"
#include "arithmetic.hpp"
#include "atomics.hpp"
#include "bits.hpp"
#include "checks.hpp"
#include "collectives.hpp"
#include "entry.hpp"
#include "instructions.hpp"
