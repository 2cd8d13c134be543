#pragma once

#include <array>

#include "cublaslt/cublaslt_state.hpp"

// Algorithms of the emulated cuBLASLt, by number:
//   1  supports everything
//   2  split-K by two with a workspace in the accumulator type
//   3  split-K by two through the output; filtered by the reduction scheme mask
//   4  requires pitches and addresses that are multiples of 16 bytes
//   5  is never offered, but can be initialised
namespace saccade::emulator {

inline constexpr int kAlgorithms = 5;
inline constexpr int kFields = CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID + 1;
/// Attributes of an algorithm.
using Fields = std::array<std::uint32_t, kFields>;
static_assert(sizeof(Fields) <= sizeof(cublasLtMatmulAlgo_t));

Fields fields_of(const cublasLtMatmulAlgo_t& algorithm);
cublasLtMatmulAlgo_t algorithm_of(const Fields& fields);
/// Size of an attribute.
std::size_t bytes_of(int field);
/// An algorithm as the heuristic returns it.
Fields offered(std::uint32_t id);

using Layout = cublasLtMatrixLayoutOpaque;
/// Whether the matrices' shapes match.
cublasStatus_t look_at(const cublasLtMatmulDescOpaque& operation, const Layout& a, const Layout& b, const Layout& c,
                       const Layout& d);
/// Whether the algorithm supports the problem; sets its workspace size.
cublasStatus_t look_at(const Fields& fields, const Layout& a, const Layout& b, const Layout& c, const Layout& d,
                       cublasLtMatmulHeuristicResult_t& result);
bool is_wanted(const cublasLtMatmulPreferenceOpaque& preference, const Fields& fields, std::size_t workspace);

}  // namespace saccade::emulator
