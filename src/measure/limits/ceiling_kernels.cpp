#include "measure/limits/ceiling_kernels.hpp"

#include <array>
#include <cstring>

namespace saccade {
namespace {

using Vector = float __attribute__((vector_size(16)));

/// Prevents the compiler from removing a value.
void keep(Vector value) { asm volatile("" : : "m"(value)); }

constexpr std::size_t kChains = 8;

void multiply_and_add(std::int64_t rounds) {
  std::array<Vector, kChains> sums{};
  const Vector factor = {0.5F, 0.5F, 0.5F, 0.5F};
  const Vector term = {1, 1, 1, 1};
  for (std::int64_t round = 0; round < rounds; ++round)
    for (Vector& sum : sums) sum = sum * factor + term;
  for (const Vector sum : sums) keep(sum);
}

void read(std::byte*, const std::byte* from, std::size_t bytes) {
  std::array<Vector, 4> sums{};
  for (std::size_t at = 0; at < bytes; at += sizeof sums) {
    std::array<Vector, 4> next;
    std::memcpy(&next, from + at, sizeof next);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += next[i];
  }
  for (const Vector sum : sums) keep(sum);
}

void add(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(Vector)) {
    Vector left;
    Vector right;
    std::memcpy(&left, from + at, sizeof left);
    std::memcpy(&right, from + bytes + at, sizeof right);
    left += right;
    std::memcpy(to + at, &left, sizeof left);
  }
}

void fill(std::byte* to, const std::byte*, std::size_t bytes) { std::memset(to, 0, bytes); }
void copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace

std::vector<ComputeKernel> portable_compute_kernels() {
  return {{"128-bit vectors", OperandType::kFloat32, 2.0 * 4 * kChains, multiply_and_add}};
}

std::vector<StreamKernel> portable_stream_kernels() {
  return {{"vectors", Traffic::kRead, read},
          {"memset", Traffic::kWrite, fill},
          {"memcpy", Traffic::kCopy, copy},
          {"vectors", Traffic::kMixed, add}};
}

#if !defined(__x86_64__)
std::vector<ComputeKernel> compute_kernels() { return portable_compute_kernels(); }
std::vector<StreamKernel> stream_kernels() { return portable_stream_kernels(); }
#endif

}  // namespace saccade
