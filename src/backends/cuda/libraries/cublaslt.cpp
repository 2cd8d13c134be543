#include "cuda/libraries/cublaslt.hpp"

#include <optional>

#include "base/error.hpp"
#include "cuda/libraries/optional_library.hpp"

namespace saccade::cuda {
namespace {

std::optional<CublasLtApi> resolve_cublaslt() {
  const OptionalLibrary library({"libcublasLt.so.13", "libcublasLt.so.12"});
  CublasLtApi api;
#define SACCADE_RESOLVE(name, parameters) \
  if (!library.find(api.name, #name)) return {};
  SACCADE_CUBLASLT(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  if (!library.find(api.cublasLtGetStatusString, "cublasLtGetStatusString")) return {};
  if (!library.find(api.cublasLtGetVersion, "cublasLtGetVersion")) return {};
  return api;
}

}  // namespace

const CublasLtApi* cublaslt() {
  static const std::optional<CublasLtApi> api = resolve_cublaslt();
  return api ? &*api : nullptr;
}

void check_cublaslt(cublasStatus_t result, std::string_view call) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  fail(ErrorCode::kDevice, "{} failed with {}", call.substr(0, call.find('(')),
       cublaslt()->cublasLtGetStatusString(result));
}

cublasLtHandle_t cublaslt_handle(int ordinal) {
  static auto& handles = *new LibraryHandles<cublasLtHandle_t>;
  if (cublaslt() == nullptr) return nullptr;
  const std::scoped_lock lock(handles.mutex);
  return handles.of(ordinal, "cuBLASLt", [](cublasLtHandle_t* made) -> const char* {
    const cublasStatus_t result = cublaslt()->cublasLtCreate(made);
    return result == CUBLAS_STATUS_SUCCESS ? nullptr : cublaslt()->cublasLtGetStatusString(result);
  });
}

}  // namespace saccade::cuda
