#include "cublaslt/cublaslt_algorithms.hpp"

#include <cstring>

namespace saccade::emulator {
namespace {

bool is_sound(const Layout& layout, const Layout& output) {
  return layout.rows > 0 && layout.columns > 0 && layout.pitch >= layout.rows && layout.type == output.type &&
         layout.batches == output.batches && layout.batches > 0;
}

bool has_even_pitches(const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  for (const Layout* layout : {&a, &b, &c, &d})
    if (layout->pitch * layout->element_bytes() % 16 != 0 || layout->stride * layout->element_bytes() % 16 != 0)
      return false;
  return true;
}

std::size_t workspace_of(const Fields& fields, const Layout& d) {
  if (fields[CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME] != 2) return 0;
  return static_cast<std::size_t>(4 * d.batches * d.rows * d.columns) * fields[CUBLASLT_ALGO_CONFIG_SPLITK_NUM];
}

}  // namespace

Fields fields_of(const cublasLtMatmulAlgo_t& algorithm) {
  Fields fields;
  std::memcpy(fields.data(), algorithm.data, sizeof(fields));
  return fields;
}

cublasLtMatmulAlgo_t algorithm_of(const Fields& fields) {
  cublasLtMatmulAlgo_t algorithm{};
  std::memcpy(algorithm.data, fields.data(), sizeof(fields));
  return algorithm;
}

std::size_t bytes_of(int field) {
  return field == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID || field == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID ? 2 : 4;
}

Fields offered(std::uint32_t id) {
  Fields fields{};
  fields[CUBLASLT_ALGO_CONFIG_ID] = id;
  fields[CUBLASLT_ALGO_CONFIG_TILE_ID] = 10 + id;
  fields[CUBLASLT_ALGO_CONFIG_STAGES_ID] = 20 + id;
  fields[CUBLASLT_ALGO_CONFIG_SPLITK_NUM] = id == 2 || id == 3 ? 2 : 1;
  fields[CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME] = id == 2 ? 2 : id == 3 ? 1 : 0;
  fields[CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID] = 2;
  return fields;
}

cublasStatus_t look_at(const cublasLtMatmulDescOpaque& operation, const Layout& a, const Layout& b, const Layout& c,
                       const Layout& d) {
  if (!is_sound(a, d) || !is_sound(b, d) || !is_sound(c, d) || !is_sound(d, d)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool turns_a = operation.turn_a == CUBLAS_OP_T;
  const bool turns_b = operation.turn_b == CUBLAS_OP_T;
  const bool fits = (turns_a ? a.columns : a.rows) == d.rows && (turns_b ? b.rows : b.columns) == d.columns &&
                    (turns_a ? a.rows : a.columns) == (turns_b ? b.columns : b.rows) && c.rows == d.rows &&
                    c.columns == d.columns;
  const bool lacks_bias = (operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0 && operation.bias == nullptr;
  const bool overlaps = d.batches > 1 && d.stride < (d.columns - 1) * d.pitch + d.rows;
  if (!fits || overlaps || lacks_bias) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_known = operation.compute == CUBLAS_COMPUTE_32F ||
                        (operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && d.type == CUDA_R_32F);
  return is_known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t look_at(const Fields& fields, const Layout& a, const Layout& b, const Layout& c, const Layout& d,
                       cublasLtMatmulHeuristicResult_t& result) {
  const std::uint32_t id = fields[CUBLASLT_ALGO_CONFIG_ID];
  Fields expected = offered(id);
  expected[CUBLASLT_ALGO_CONFIG_SPLITK_NUM] = fields[CUBLASLT_ALGO_CONFIG_SPLITK_NUM];
  if (id < 1 || id > kAlgorithms) return CUBLAS_STATUS_INVALID_VALUE;
  if (fields != expected) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (id == 4 && !has_even_pitches(a, b, c, d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  result.workspaceSize = workspace_of(fields, d);
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}

bool is_wanted(const cublasLtMatmulPreferenceOpaque& preference, const Fields& fields, std::size_t workspace) {
  const std::uint32_t reduction = fields[CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME];
  if (workspace > preference.workspace || (reduction & ~preference.reductions) != 0) return false;
  if (fields[CUBLASLT_ALGO_CONFIG_ID] != 4) return true;
  for (const auto& [attribute, alignment] : preference.alignments)
    if (alignment % 16 != 0) return false;
  return true;
}

}  // namespace saccade::emulator
