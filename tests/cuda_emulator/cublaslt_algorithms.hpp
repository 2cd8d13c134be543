#pragma once

#include <array>

#include "cublaslt_state.hpp"

// The emulated cuBLASLt's algorithms, by their numbers:
//   1  takes anything
//   2  splits sums in two, which meet in the workspace, in the type of the sums
//   3  the same, but they meet in the output: a caller that minds does not get it
//   4  takes matrices whose pitches and first elements are multiples of 16 bytes alone
//   5  is never offered, but can be made
namespace saccade::emulator {

inline constexpr int kAlgorithms = 5;
inline constexpr int kFields = CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID + 1;
/// What an algorithm is made of, by attribute.
using Fields = std::array<std::uint32_t, kFields>;
static_assert(sizeof(Fields) <= sizeof(cublasLtMatmulAlgo_t));

Fields fields_of(const cublasLtMatmulAlgo_t& algorithm);
cublasLtMatmulAlgo_t algorithm_of(const Fields& fields);
/// How wide a field is to callers.
std::size_t bytes_of(int field);
/// An algorithm as it is offered.
Fields offered(std::uint32_t id);

using Layout = cublasLtMatrixLayoutOpaque;
/// Whether the matrices go together.
cublasStatus_t look_at(const cublasLtMatmulDescOpaque& operation, const Layout& a, const Layout& b, const Layout& c,
                       const Layout& d);
/// Whether the algorithm can do it, and what of workspace it needs.
cublasStatus_t look_at(const Fields& fields, const Layout& a, const Layout& b, const Layout& c, const Layout& d,
                       cublasLtMatmulHeuristicResult_t& result);
bool is_wanted(const cublasLtMatmulPreferenceOpaque& preference, const Fields& fields, std::size_t workspace);

}  // namespace saccade::emulator
