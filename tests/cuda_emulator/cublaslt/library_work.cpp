#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include "calls.hpp"
#include "cublaslt/cublaslt_state.hpp"
#include "emulator.hpp"
#include "guard.hpp"
#include "tensor/half.hpp"

// GEMMs of the emulated cuBLASLt, in plain loops, as a host function on the emulated driver's stream.
namespace saccade::emulator {
namespace {

void expect_memory(const LibraryWork& work, const char* what, const void* data, std::int64_t bytes,
                   std::int64_t alignment) {
  static const auto holds = reinterpret_cast<decltype(&emulator_holds)>(driver_symbol("emulator_holds"));
  if (holds(data, static_cast<std::size_t>(bytes)) && reinterpret_cast<std::uintptr_t>(data) % alignment == 0) return;
  std::fprintf(stderr, "emulator: cublasLtMatmul (%s): %s is not %lld bytes of device memory, aligned to %lld, at %p\n",
               work.name.c_str(), what, static_cast<long long>(bytes), static_cast<long long>(alignment), data);
  std::fflush(stderr);
  std::abort();
}

void expect_matrix(const LibraryWork& work, const char* what, const void* data,
                   const cublasLtMatrixLayoutOpaque& layout) {
  expect_memory(work, what, data, layout.elements() * layout.element_bytes(),
                std::max(work.alignment, layout.element_bytes()));
}

float load(const void* data, cudaDataType_t type, std::int64_t at) {
  if (type == CUDA_R_16F) return static_cast<const Float16*>(data)[at];
  if (type == CUDA_R_16BF) return static_cast<const BFloat16*>(data)[at];
  return static_cast<const float*>(data)[at];
}

void store(void* data, cudaDataType_t type, std::int64_t at, float value) {
  if (type == CUDA_R_16F) static_cast<Float16*>(data)[at] = Float16(value);
  if (type == CUDA_R_16BF) static_cast<BFloat16*>(data)[at] = BFloat16(value);
  if (type == CUDA_R_32F) static_cast<float*>(data)[at] = value;
}

/// Offset of element [ROW, COLUMN] of a matrix, transposed if TURN, in this BATCH.
std::int64_t place(const cublasLtMatrixLayoutOpaque& layout, std::int32_t turn, std::int64_t batch, std::int64_t row,
                   std::int64_t column) {
  return batch * layout.stride + (turn == CUBLAS_OP_T ? row * layout.pitch + column : column * layout.pitch + row);
}

/// Rounded to the 10 mantissa bits of tf32.
float rounded(float value) {
  return std::ldexp(std::nearbyint(std::ldexp(value, 10 - std::ilogb(value))), std::ilogb(value) - 10);
}

void multiply(const LibraryWork& work) {
  const auto& [operation, a, b, c, d, a_data, b_data, c_data, d_data, alpha, beta, workspace, bytes, alignment, name] =
      work;
  const bool tf32 = operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const auto taken = [&](float value) { return tf32 && value != 0 && std::isfinite(value) ? rounded(value) : value; };
  const std::int64_t depth = operation.turn_a == CUBLAS_OP_T ? a.rows : a.columns;
  for (std::int64_t batch = 0; batch < d.batches; ++batch)
    for (std::int64_t column = 0; column < d.columns; ++column)
      for (std::int64_t row = 0; row < d.rows; ++row) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k)
          sum += static_cast<double>(taken(load(a_data, a.type, place(a, operation.turn_a, batch, row, k)))) *
                 taken(load(b_data, b.type, place(b, operation.turn_b, batch, k, column)));
        float value = alpha * static_cast<float>(sum);
        if (beta != 0) value += beta * load(c_data, c.type, place(c, CUBLAS_OP_N, batch, row, column));
        if ((operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) value += load(operation.bias, d.type, row);
        if ((operation.epilogue & CUBLASLT_EPILOGUE_RELU) != 0) value = std::fmax(value, 0.0F);
        store(d_data, d.type, place(d, CUBLAS_OP_N, batch, row, column), value);
      }
}

void do_work(void* data) {
  const auto& work = *static_cast<const LibraryWork*>(data);
  expect_matrix(work, "A", work.a_data, work.a);
  expect_matrix(work, "B", work.b_data, work.b);
  expect_matrix(work, "D", work.d_data, work.d);
  if (work.beta != 0) expect_matrix(work, "C", work.c_data, work.c);
  if ((work.operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0)
    expect_memory(work, "the bias", work.operation.bias, work.d.rows * work.d.element_bytes(), work.d.element_bytes());
  if (work.workspace_bytes > 0) {
    expect_memory(work, "the workspace", work.workspace, static_cast<std::int64_t>(work.workspace_bytes), 256);
    std::memset(work.workspace, kPoison, work.workspace_bytes);
  }
  multiply(work);
  note_kernel(work.name);
}

}  // namespace

void* driver_symbol(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, name);
}

CUresult enqueue(LibraryWork work, CUstream stream) {
  static std::mutex mutex;
  static auto& works = *new std::deque<LibraryWork>;  // never destroyed: a captured graph may replay them at any time
  using Launch = CUresult (*)(CUstream, void (*)(void*), void*);
  static const auto launch = reinterpret_cast<Launch>(driver_symbol("cuLaunchHostFunc"));
  const std::scoped_lock lock(mutex);
  works.push_back(std::move(work));
  return launch(stream, do_work, &works.back());
}

}  // namespace saccade::emulator
