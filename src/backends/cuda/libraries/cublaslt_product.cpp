#include "cuda/libraries/cublaslt_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <sstream>

#include "cuda/driver/handles.hpp"

// cuBLASLt's matrices are column-major: a matrix of ours is the transpose of one of its own. So it is asked for the
// output's transpose, the product of the right operand's and the left one's, and the bias, a number a row to it, is one
// a column to us.
namespace saccade::cuda {
namespace {

constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;
constexpr int kMostAlgorithms = 64;  // that are looked through for one by its name

/// What an algorithm is made of, beside what it is initialised with.
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

/// 0 where this cuBLASLt has no such field.
std::uint32_t value_of(const cublasLtMatmulAlgo_t& algorithm, const Field& field) {
  std::uint32_t value = 0;  // as little-endian as the library
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

/// An address that is never read.
const void* nowhere() {
  return reinterpret_cast<const void*>(kWorkspaceAlignment);  // NOLINT(performance-no-int-to-ptr)
}

/// SET's attribute of OBJECT.
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

CublasLtProduct::CublasLtProduct(cublasLtHandle_t handle, const LibraryProduct& product, const void* bias)
    : handle_(handle),
      product_(product),
      operation_(make<CublasLtOperation, &CublasLtApi::cublasLtMatmulDescCreate>(compute(), CUDA_R_32F)),
      left_(layout(product.left, product.m, product.k)),
      right_(product.transposed ? layout(product.right, product.n, product.k)
                                : layout(product.right, product.k, product.n)),
      residual_(layout(product.residual.value_or(product.output), product.m, product.n)),
      output_(layout(product.output, product.m, product.n)) {
  constexpr auto kSet = &CublasLtApi::cublasLtMatmulDescSetAttribute;
  if (product.transposed) set<kSet>(operation_, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  // Some versions offer nothing where a bias is nowhere.
  if (product.bias) set<kSet>(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias == nullptr ? nowhere() : bias);
  const auto epilogue = product.bias ? (product.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                                     : (product.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  set<kSet>(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
}

cublasComputeType_t CublasLtProduct::compute() const {
  return product_.dtype == DType::kFloat32 && product_.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// Of the transpose of ROWS by COLUMNS.
CublasLtLayout CublasLtProduct::layout(const LibraryProduct::Matrix& matrix, std::int64_t rows,
                                       std::int64_t columns) const {
  auto made = make<CublasLtLayout, &CublasLtApi::cublasLtMatrixLayoutCreate>(
      cublas_type(product_.dtype), static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows), matrix.pitch);
  if (product_.batches == 1) return made;
  constexpr auto kSet = &CublasLtApi::cublasLtMatrixLayoutSetAttribute;
  set<kSet>(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(product_.batches));
  set<kSet>(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride);
  return made;
}

std::vector<LibraryAlgorithm> CublasLtProduct::algorithms(int count) const {
  const auto preference = make<CublasLtPreference, &CublasLtApi::cublasLtMatmulPreferenceCreate>();
  constexpr auto kSet = &CublasLtApi::cublasLtMatmulPreferenceSetAttribute;
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kMostWorkspace});
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
            static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, product_.right.alignment);
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, product_.left.alignment);
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            product_.residual.value_or(product_.output).alignment);
  set<kSet>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, product_.output.alignment);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(count));
  int got = 0;
  const cublasStatus_t result =
      cublaslt()->cublasLtMatmulAlgoGetHeuristic(handle_, operation_.get(), right_.get(), left_.get(), residual_.get(),
                                                 output_.get(), preference.get(), count, results.data(), &got);
  if (result == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  check_cublaslt(result, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<LibraryAlgorithm> algorithms;
  for (const auto& each : std::span(results).first(static_cast<std::size_t>(got)))
    if (each.state == CUBLAS_STATUS_SUCCESS && each.workspaceSize <= kMostWorkspace)
      algorithms.push_back({each.algo, each.workspaceSize});
  return algorithms;
}

std::optional<LibraryAlgorithm> CublasLtProduct::algorithm(std::string_view text) const {
  const auto values = values_from(text);
  if (!values) return {};
  // As it was offered, if it is again: an algorithm may hold more than its fields.
  const std::vector<LibraryAlgorithm> offered = algorithms(kMostAlgorithms);
  const auto found = std::ranges::find(offered, text, &LibraryAlgorithm::to_string);
  if (found != offered.end()) return *found;
  const cudaDataType_t type = cublas_type(product_.dtype);
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
  if (possible != CUBLAS_STATUS_SUCCESS || result.workspaceSize > kMostWorkspace) return {};
  made.workspace = result.workspaceSize;
  return made;
}

void CublasLtProduct::run(const LibraryAlgorithm& algorithm, const LibraryOperands& operands, CUstream stream) const {
  const float beta = operands.residual == nullptr ? 0.0F : 1.0F;
  const void* added = operands.residual == nullptr ? operands.output : operands.residual;
  SACCADE_CUBLASLT_CALL(cublasLtMatmul(handle_, operation_.get(), &product_.alpha, operands.right, right_.get(),
                                       operands.left, left_.get(), &beta, added, residual_.get(), operands.output,
                                       output_.get(), &algorithm.data, operands.workspace, algorithm.workspace,
                                       stream));
}

void warm_up(cublasLtHandle_t handle, const LibraryProduct& product, const LibraryAlgorithm& algorithm) {
  std::size_t bytes = 0;
  const auto place = [&](std::size_t length) {
    const std::size_t at = bytes;
    bytes += (length + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    return at;
  };
  const auto place_matrix = [&](const LibraryProduct::Matrix& matrix, std::int64_t rows, std::int64_t columns) {
    const std::int64_t elements = (product.batches - 1) * matrix.stride + (rows - 1) * matrix.pitch + columns;
    return place(static_cast<std::size_t>(elements) * bits_of(product.dtype) / 8);
  };
  const std::size_t left = place_matrix(product.left, product.m, product.k);
  const std::size_t right = product.transposed ? place_matrix(product.right, product.n, product.k)
                                               : place_matrix(product.right, product.k, product.n);
  const std::size_t residual = place_matrix(product.residual.value_or(product.output), product.m, product.n);
  const std::size_t output = place_matrix(product.output, product.m, product.n);
  const std::size_t bias = place(static_cast<std::size_t>(product.n) * bits_of(product.dtype) / 8);
  const std::size_t workspace = place(algorithm.workspace);
  // Candidates are compiled side by side; one's operands at a time are enough.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const DeviceMemory memory(bytes);
  const Stream stream = make_stream();
  CublasLtProduct(handle, product, memory.pointer() + bias)
      .run(algorithm,
           {.left = memory.pointer() + left,
            .right = memory.pointer() + right,
            .residual = product.residual ? memory.pointer() + residual : nullptr,
            .output = memory.pointer() + output,
            .workspace = memory.pointer() + workspace},
           stream.get());
  SACCADE_CUDA(cuStreamSynchronize(stream.get()));
}

}  // namespace saccade::cuda
