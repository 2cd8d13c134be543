#include "cuda/libraries/cublaslt_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <sstream>

#include "cuda/driver/handles.hpp"

// cuBLASLt is column-major: a row-major matrix is the transpose of one of its own. It therefore computes D^T = B^T
// A^T, and its bias per row is a bias per column here.
namespace saccade::cuda {
namespace {

constexpr std::size_t kMaxWorkspace = std::size_t{32} << 20;
constexpr int kMaxAlgorithms = 64;  // searched for an algorithm by name

/// A configurable attribute of an algorithm.
struct Field {
  const char* name;
  cublasLtMatmulAlgoConfigAttributes_t attribute;
  std::size_t bytes;
};
constexpr std::array<Field, 9> kFields{{
    {"algorithm", CUBLASLT_ALGO_CONFIG_ID, 4},
    {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
    {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
    {"splits", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
    {"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
    {"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
    {"option", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
    {"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
    {"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
}};
using FieldValues = std::array<std::uint32_t, kFields.size()>;

/// 0 if this cuBLASLt lacks the attribute.
std::uint32_t value_of(const cublasLtMatmulAlgo_t& algorithm, const Field& field) {
  std::uint32_t value = 0;  // little-endian, like the library's
  std::size_t written = 0;
  const auto got =
      cublaslt()->cublasLtMatmulAlgoConfigGetAttribute(&algorithm, field.attribute, &value, field.bytes, &written);
  return got == CUBLAS_STATUS_SUCCESS ? value : 0;
}

std::optional<FieldValues> values_from(std::string_view text) {
  std::istringstream stream{std::string(text)};
  FieldValues values{};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    std::string name;
    if (!(stream >> name >> values[i]) || name != kFields[i].name) return {};
  }
  return values;
}

cudaDataType_t cublas_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return CUDA_R_16F;
    case DType::kBFloat16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

template <typename Owner, auto Create, typename... Arguments>
Owner make(Arguments... arguments) {
  typename Owner::pointer made = nullptr;
  check_cublaslt((cublaslt()->*Create)(&made, arguments...), "a descriptor");
  return Owner(made);
}

/// A valid pointer that is never dereferenced.
const void* nowhere() {
  return reinterpret_cast<const void*>(kWorkspaceAlignment);  // NOLINT(performance-no-int-to-ptr)
}

/// Sets an attribute of OBJECT by SET.
template <auto Set, typename Object, typename Attribute, typename Value>
void set(const Object& object, Attribute attribute, const Value& value) {
  check_cublaslt((cublaslt()->*Set)(object.get(), attribute, &value, sizeof(value)), "a descriptor's attribute");
}

}  // namespace

std::string LibraryAlgorithm::to_string() const {
  std::string text;
  for (const Field& field : kFields)
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", field.name, value_of(data, field));
  return text;
}

CublasLtGemm::CublasLtGemm(cublasLtHandle_t handle, const LibraryGemm& gemm, const void* bias)
    : handle_(handle),
      gemm_(gemm),
      operation_(make<CublasLtOperation, &CublasLtApi::cublasLtMatmulDescCreate>(compute(), CUDA_R_32F)),
      left_(layout(gemm.left, gemm.m, gemm.k)),
      right_(gemm.transposed ? layout(gemm.right, gemm.n, gemm.k) : layout(gemm.right, gemm.k, gemm.n)),
      residual_(layout(gemm.residual.value_or(gemm.output), gemm.m, gemm.n)),
      output_(layout(gemm.output, gemm.m, gemm.n)) {
  constexpr auto kSet = &CublasLtApi::cublasLtMatmulDescSetAttribute;
  if (gemm.transposed) set<kSet>(operation_, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  // Some versions offer no algorithm for a null bias pointer.
  if (gemm.bias) set<kSet>(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias == nullptr ? nowhere() : bias);
  const auto epilogue = gemm.bias ? (gemm.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                                  : (gemm.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  set<kSet>(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
}

cublasComputeType_t CublasLtGemm::compute() const {
  return gemm_.dtype == DType::kFloat32 && gemm_.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// Layout of the transpose of ROWS x COLUMNS.
CublasLtLayout CublasLtGemm::layout(const LibraryGemm::Matrix& matrix, std::int64_t rows, std::int64_t columns) const {
  auto made = make<CublasLtLayout, &CublasLtApi::cublasLtMatrixLayoutCreate>(
      cublas_type(gemm_.dtype), static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows), matrix.pitch);
  if (gemm_.batches == 1) return made;
  constexpr auto kSet = &CublasLtApi::cublasLtMatrixLayoutSetAttribute;
  set<kSet>(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(gemm_.batches));
  set<kSet>(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride);
  return made;
}

std::vector<LibraryAlgorithm> CublasLtGemm::algorithms(int count) const {
  const auto preference = make<CublasLtPreference, &CublasLtApi::cublasLtMatmulPreferenceCreate>();
  constexpr auto kSet = &CublasLtApi::cublasLtMatmulPreferenceSetAttribute;
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kMaxWorkspace});
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
            static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, gemm_.right.alignment);
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, gemm_.left.alignment);
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, gemm_.residual.value_or(gemm_.output).alignment);
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, gemm_.output.alignment);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(count));
  int got = 0;
  const cublasStatus_t result =
      cublaslt()->cublasLtMatmulAlgoGetHeuristic(handle_, operation_.get(), right_.get(), left_.get(), residual_.get(),
                                                 output_.get(), preference.get(), count, results.data(), &got);
  if (result == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  check_cublaslt(result, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<LibraryAlgorithm> algorithms;
  for (const auto& each : std::span(results).first(static_cast<std::size_t>(got)))
    if (each.state == CUBLAS_STATUS_SUCCESS && each.workspaceSize <= kMaxWorkspace)
      algorithms.push_back({each.algo, each.workspaceSize});
  return algorithms;
}

std::optional<LibraryAlgorithm> CublasLtGemm::algorithm(std::string_view text) const {
  const auto values = values_from(text);
  if (!values) return {};
  // Preferably as offered: an algorithm may have state beyond its attributes.
  const std::vector<LibraryAlgorithm> offered = algorithms(kMaxAlgorithms);
  const auto found = std::ranges::find(offered, text, &LibraryAlgorithm::to_string);
  if (found != offered.end()) return *found;
  const cudaDataType_t type = cublas_type(gemm_.dtype);
  LibraryAlgorithm made;
  if (cublaslt()->cublasLtMatmulAlgoInit(handle_, compute(), CUDA_R_32F, type, type, type, type,
                                         static_cast<int>(values->front()), &made.data) != CUBLAS_STATUS_SUCCESS)
    return {};
  for (std::size_t i = 1; i < kFields.size(); ++i) {
    const Field& field = kFields[i];
    if (value_of(made.data, field) == (*values)[i]) continue;
    if (cublaslt()->cublasLtMatmulAlgoConfigSetAttribute(&made.data, field.attribute, &(*values)[i], field.bytes) !=
        CUBLAS_STATUS_SUCCESS)
      return {};
  }
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t possible = cublaslt()->cublasLtMatmulAlgoCheck(
      handle_, operation_.get(), right_.get(), left_.get(), residual_.get(), output_.get(), &made.data, &result);
  if (possible != CUBLAS_STATUS_SUCCESS || result.workspaceSize > kMaxWorkspace) return {};
  made.workspace = result.workspaceSize;
  return made;
}

void CublasLtGemm::run(const LibraryAlgorithm& algorithm, const LibraryOperands& operands, CUstream stream) const {
  const float beta = operands.residual == nullptr ? 0.0F : 1.0F;
  const void* added = operands.residual == nullptr ? operands.output : operands.residual;
  SACCADE_CUBLASLT_CALL(cublasLtMatmul(handle_, operation_.get(), &gemm_.alpha, operands.right, right_.get(),
                                       operands.left, left_.get(), &beta, added, residual_.get(), operands.output,
                                       output_.get(), &algorithm.data, operands.workspace, algorithm.workspace,
                                       stream));
}

void warm_up(cublasLtHandle_t handle, const LibraryGemm& gemm, const LibraryAlgorithm& algorithm) {
  std::size_t bytes = 0;
  const auto place = [&](std::size_t length) {
    const std::size_t at = bytes;
    bytes += (length + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    return at;
  };
  const auto place_matrix = [&](const LibraryGemm::Matrix& matrix, std::int64_t rows, std::int64_t columns) {
    const std::int64_t elements = (gemm.batches - 1) * matrix.stride + (rows - 1) * matrix.pitch + columns;
    return place(static_cast<std::size_t>(elements) * bits_of(gemm.dtype) / 8);
  };
  const std::size_t left = place_matrix(gemm.left, gemm.m, gemm.k);
  const std::size_t right =
      gemm.transposed ? place_matrix(gemm.right, gemm.n, gemm.k) : place_matrix(gemm.right, gemm.k, gemm.n);
  const std::size_t residual = place_matrix(gemm.residual.value_or(gemm.output), gemm.m, gemm.n);
  const std::size_t output = place_matrix(gemm.output, gemm.m, gemm.n);
  const std::size_t bias = place(static_cast<std::size_t>(gemm.n) * bits_of(gemm.dtype) / 8);
  const std::size_t workspace = place(algorithm.workspace);
  // Candidates are compiled in parallel; limit the memory to one GEMM's operands at a time.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const DeviceMemory memory(bytes);
  const Stream stream = make_stream();
  CublasLtGemm(handle, gemm, memory.pointer() + bias)
      .run(algorithm,
           {.left = memory.pointer() + left,
            .right = memory.pointer() + right,
            .residual = gemm.residual ? memory.pointer() + residual : nullptr,
            .output = memory.pointer() + output,
            .workspace = memory.pointer() + workspace},
           stream.get());
  SACCADE_CUDA(cuStreamSynchronize(stream.get()));
}

}  // namespace saccade::cuda
