#pragma once

#include <memory>
#include <mutex>
#include <string_view>

#include "cuda/libraries/cudnn_api.hpp"

namespace saccade::cuda {

/// cuDNN, opened at the first call; null if it is not installed.
const CudnnApi* cudnn();

/// Throws Error (kDevice) with the call's name unless it succeeded.
void check_cudnn(cudnnStatus_t result, std::string_view call);
#define SACCADE_CUDNN_CALL(call) ::saccade::cuda::check_cudnn(::saccade::cuda::cudnn()->call, #call)

/// Whether cuDNN can use GPU ORDINAL, whose context is current.
bool cudnn_runs(int ordinal);

/// The process's handle for a GPU where cudnn_runs(), locked while this object lives.
class CudnnHandle {
 public:
  CudnnHandle(int ordinal, CUstream stream);
  cudnnHandle_t get() const { return handle_; }

 private:
  std::unique_lock<std::mutex> lock_;
  cudnnHandle_t handle_ = nullptr;
};

/// Deleter that calls FUNCTION of cuDNN.
template <auto Function>
struct DestroyCudnn {
  template <typename Handle>
  void operator()(Handle* handle) const {
    static_cast<void>((cudnn()->*Function)(handle));
  }
};
using CudnnTensor = std::unique_ptr<cudnnTensorStruct, DestroyCudnn<&CudnnApi::cudnnDestroyTensorDescriptor>>;
using CudnnFilter = std::unique_ptr<cudnnFilterStruct, DestroyCudnn<&CudnnApi::cudnnDestroyFilterDescriptor>>;
using CudnnConvolution =
    std::unique_ptr<cudnnConvolutionStruct, DestroyCudnn<&CudnnApi::cudnnDestroyConvolutionDescriptor>>;
using CudnnActivation =
    std::unique_ptr<cudnnActivationStruct, DestroyCudnn<&CudnnApi::cudnnDestroyActivationDescriptor>>;

}  // namespace saccade::cuda
