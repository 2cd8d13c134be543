#pragma once

#include <memory>
#include <string_view>

#include "cuda/libraries/cublaslt_api.hpp"

namespace saccade::cuda {

/// cuBLASLt, opened at the first call; null if it is not installed.
const CublasLtApi* cublaslt();

/// Throws Error (kDevice) with the call's name unless it succeeded.
void check_cublaslt(cublasStatus_t result, std::string_view call);
#define SACCADE_CUBLASLT_CALL(call) ::saccade::cuda::check_cublaslt(::saccade::cuda::cublaslt()->call, #call)

/// The process's handle for GPU ORDINAL, whose context is current; null if cuBLASLt is not installed or cannot use the
/// GPU. Safe for concurrent use.
cublasLtHandle_t cublaslt_handle(int ordinal);

/// Deleter that calls FUNCTION of cuBLASLt.
template <auto Function>
struct DestroyCublasLt {
  template <typename Handle>
  void operator()(Handle* handle) const {
    static_cast<void>((cublaslt()->*Function)(handle));
  }
};
using CublasLtOperation =
    std::unique_ptr<cublasLtMatmulDescOpaque, DestroyCublasLt<&CublasLtApi::cublasLtMatmulDescDestroy>>;
using CublasLtLayout =
    std::unique_ptr<cublasLtMatrixLayoutOpaque, DestroyCublasLt<&CublasLtApi::cublasLtMatrixLayoutDestroy>>;
using CublasLtPreference =
    std::unique_ptr<cublasLtMatmulPreferenceOpaque, DestroyCublasLt<&CublasLtApi::cublasLtMatmulPreferenceDestroy>>;

}  // namespace saccade::cuda
