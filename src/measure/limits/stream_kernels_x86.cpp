#if defined(__x86_64__)

#include "base/cpu_features.hpp"
#include "measure/limits/ceiling_kernels.hpp"

// Loops that only move memory, in assembly for the same reason as the arithmetic: every build must measure the machine.
// Sixteen vectors per iteration hide the loop overhead. The fastest form differs between levels and processors, so
// there are several; the best one counts.
namespace saccade {
namespace {

// DO(offset in vectors) for sixteen vectors.
#define SACCADE_SIXTEEN(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)

// BODY moves STEP bytes; it uses `from`, `second` (`from` + BYTES) and `to`.
#define SACCADE_STREAM(BODY, STEP, END)                                                               \
  const std::byte* second = from + bytes;                                                             \
  asm volatile("xorps %%xmm0, %%xmm0\n .p2align 5\n1:\n" BODY "add $" #STEP ", %[from]\n add $" #STEP \
               ", %[second]\n add $" #STEP ", %[to]\n sub $" #STEP ", %[bytes]\n jnz 1b\n" END        \
               : [from] "+r"(from), [second] "+r"(second), [to] "+r"(to), [bytes] "+r"(bytes)         \
               :                                                                                      \
               : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory")

#define SACCADE_Z(i, at) #i "*64(%[" #at "])"
#define SACCADE_Z_READ(i) "vmovaps " SACCADE_Z(i, from) ", %%zmm0\n"
#define SACCADE_Z_WRITE(i) "vmovaps %%zmm0, " SACCADE_Z(i, to) "\n"
#define SACCADE_Z_STREAM(i) "vmovntps %%zmm0, " SACCADE_Z(i, to) "\n"
#define SACCADE_Z_COPY(i) SACCADE_Z_READ(i) SACCADE_Z_WRITE(i)
#define SACCADE_Z_STREAM_COPY(i) SACCADE_Z_READ(i) SACCADE_Z_STREAM(i)
#define SACCADE_Z_SUM(i) SACCADE_Z_READ(i) "vaddps " SACCADE_Z(i, second) ", %%zmm0, %%zmm0\n"
#define SACCADE_Z_ADD(i) SACCADE_Z_SUM(i) SACCADE_Z_WRITE(i)
#define SACCADE_Z_STREAM_ADD(i) SACCADE_Z_SUM(i) SACCADE_Z_STREAM(i)

#define SACCADE_Y(i, at) #i "*32(%[" #at "])"
#define SACCADE_Y_READ(i) "vmovaps " SACCADE_Y(i, from) ", %%ymm0\n"
#define SACCADE_Y_WRITE(i) "vmovaps %%ymm0, " SACCADE_Y(i, to) "\n"
#define SACCADE_Y_STREAM(i) "vmovntps %%ymm0, " SACCADE_Y(i, to) "\n"
#define SACCADE_Y_COPY(i) SACCADE_Y_READ(i) SACCADE_Y_WRITE(i)
#define SACCADE_Y_STREAM_COPY(i) SACCADE_Y_READ(i) SACCADE_Y_STREAM(i)
#define SACCADE_Y_SUM(i) SACCADE_Y_READ(i) "vaddps " SACCADE_Y(i, second) ", %%ymm0, %%ymm0\n"
#define SACCADE_Y_ADD(i) SACCADE_Y_SUM(i) SACCADE_Y_WRITE(i)
#define SACCADE_Y_STREAM_ADD(i) SACCADE_Y_SUM(i) SACCADE_Y_STREAM(i)

#define SACCADE_X(i, at) #i "*16(%[" #at "])"
#define SACCADE_X_READ(i) "movaps " SACCADE_X(i, from) ", %%xmm0\n"
#define SACCADE_X_WRITE(i) "movaps %%xmm0, " SACCADE_X(i, to) "\n"
#define SACCADE_X_STREAM(i) "movntps %%xmm0, " SACCADE_X(i, to) "\n"
#define SACCADE_X_COPY(i) SACCADE_X_READ(i) SACCADE_X_WRITE(i)
#define SACCADE_X_STREAM_COPY(i) SACCADE_X_READ(i) SACCADE_X_STREAM(i)
#define SACCADE_X_ADD(i) SACCADE_X_READ(i) "addps " SACCADE_X(i, second) ", %%xmm0\n" SACCADE_X_WRITE(i)

#define SACCADE_STREAM_KERNEL(NAME, VECTOR, STEP, END)                 \
  void NAME(std::byte* to, const std::byte* from, std::size_t bytes) { \
    SACCADE_STREAM(SACCADE_SIXTEEN(VECTOR), STEP, END);                \
  }

SACCADE_STREAM_KERNEL(z_read, SACCADE_Z_READ, 1024, "vzeroupper\n")
SACCADE_STREAM_KERNEL(z_write, SACCADE_Z_WRITE, 1024, "vzeroupper\n")
SACCADE_STREAM_KERNEL(z_stream, SACCADE_Z_STREAM, 1024, "sfence\n vzeroupper\n")
SACCADE_STREAM_KERNEL(z_copy, SACCADE_Z_COPY, 1024, "vzeroupper\n")
SACCADE_STREAM_KERNEL(z_stream_copy, SACCADE_Z_STREAM_COPY, 1024, "sfence\n vzeroupper\n")
SACCADE_STREAM_KERNEL(z_add, SACCADE_Z_ADD, 1024, "vzeroupper\n")
SACCADE_STREAM_KERNEL(z_stream_add, SACCADE_Z_STREAM_ADD, 1024, "sfence\n vzeroupper\n")
SACCADE_STREAM_KERNEL(y_read, SACCADE_Y_READ, 512, "vzeroupper\n")
SACCADE_STREAM_KERNEL(y_write, SACCADE_Y_WRITE, 512, "vzeroupper\n")
SACCADE_STREAM_KERNEL(y_stream, SACCADE_Y_STREAM, 512, "sfence\n vzeroupper\n")
SACCADE_STREAM_KERNEL(y_copy, SACCADE_Y_COPY, 512, "vzeroupper\n")
SACCADE_STREAM_KERNEL(y_stream_copy, SACCADE_Y_STREAM_COPY, 512, "sfence\n vzeroupper\n")
SACCADE_STREAM_KERNEL(y_add, SACCADE_Y_ADD, 512, "vzeroupper\n")
SACCADE_STREAM_KERNEL(y_stream_add, SACCADE_Y_STREAM_ADD, 512, "sfence\n vzeroupper\n")
SACCADE_STREAM_KERNEL(x_read, SACCADE_X_READ, 256, "")
SACCADE_STREAM_KERNEL(x_write, SACCADE_X_WRITE, 256, "")
SACCADE_STREAM_KERNEL(x_stream, SACCADE_X_STREAM, 256, "sfence\n")
SACCADE_STREAM_KERNEL(x_copy, SACCADE_X_COPY, 256, "")
SACCADE_STREAM_KERNEL(x_stream_copy, SACCADE_X_STREAM_COPY, 256, "sfence\n")
SACCADE_STREAM_KERNEL(x_add, SACCADE_X_ADD, 256, "")

void rep_stosb(std::byte* to, const std::byte*, std::size_t bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
}
void rep_movsb(std::byte* to, const std::byte* from, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

/// Both halves at a time, alternating cache lines: twice as many outstanding misses for stream prefetchers.
void read_two_streams(std::byte*, const std::byte* from, std::size_t bytes) {
  const std::byte* second = from + bytes / 2;
  bytes /= 2;
  asm volatile(
      ".p2align 5\n1:\n"
      "movaps (%[from]), %%xmm0\n movaps (%[second]), %%xmm1\n movaps 16(%[from]), %%xmm0\n movaps 16(%[second]), "
      "%%xmm1\n movaps 32(%[from]), %%xmm0\n movaps 32(%[second]), %%xmm1\n movaps 48(%[from]), %%xmm0\n movaps "
      "48(%[second]), %%xmm1\n add $64, %[from]\n add $64, %[second]\n sub $64, %[bytes]\n jnz 1b\n"
      : [from] "+r"(from), [second] "+r"(second), [bytes] "+r"(bytes)
      :
      : "xmm0", "xmm1", "cc", "memory");
}

}  // namespace

std::vector<StreamKernel> stream_kernels() {
  const CpuFeatures cpu = cpu_features();
  std::vector<StreamKernel> kernels = portable_stream_kernels();
  const auto add = [&](bool has, std::initializer_list<StreamKernel> more) {
    if (has) kernels.insert(kernels.end(), more);
  };
  add(true, {{"SSE", Traffic::kRead, x_read},
             {"SSE, two streams", Traffic::kRead, read_two_streams},
             {"SSE", Traffic::kWrite, x_write},
             {"SSE around caches", Traffic::kWrite, x_stream},
             {"rep stosb", Traffic::kWrite, rep_stosb},
             {"SSE", Traffic::kCopy, x_copy},
             {"SSE around caches", Traffic::kCopy, x_stream_copy},
             {"rep movsb", Traffic::kCopy, rep_movsb},
             {"SSE", Traffic::kMixed, x_add}});
  add(cpu.avx2_fma, {{"AVX2", Traffic::kRead, y_read},
                     {"AVX2", Traffic::kWrite, y_write},
                     {"AVX2 around caches", Traffic::kWrite, y_stream},
                     {"AVX2", Traffic::kCopy, y_copy},
                     {"AVX2 around caches", Traffic::kCopy, y_stream_copy},
                     {"AVX2", Traffic::kMixed, y_add},
                     {"AVX2 around caches", Traffic::kMixed, y_stream_add}});
  add(cpu.avx512, {{"AVX-512", Traffic::kRead, z_read},
                   {"AVX-512", Traffic::kWrite, z_write},
                   {"AVX-512 around caches", Traffic::kWrite, z_stream},
                   {"AVX-512", Traffic::kCopy, z_copy},
                   {"AVX-512 around caches", Traffic::kCopy, z_stream_copy},
                   {"AVX-512", Traffic::kMixed, z_add},
                   {"AVX-512 around caches", Traffic::kMixed, z_stream_add}});
  return kernels;
}

}  // namespace saccade

#endif
