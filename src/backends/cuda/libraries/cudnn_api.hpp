#pragma once

#include <cstddef>

#include "cuda/driver/driver_api.hpp"

// The parts of the ABI of cuDNN 9 that are used, declared here so that building needs none of its headers. Names and
// values are cuDNN's.
namespace saccade::cuda {

using cudnnHandle_t = struct cudnnContext*;
using cudnnTensorDescriptor_t = struct cudnnTensorStruct*;
using cudnnFilterDescriptor_t = struct cudnnFilterStruct*;
using cudnnConvolutionDescriptor_t = struct cudnnConvolutionStruct*;
using cudnnActivationDescriptor_t = struct cudnnActivationStruct*;

enum cudnnStatus_t : int { CUDNN_STATUS_SUCCESS = 0 };
enum cudnnDataType_t : int { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9 };
enum cudnnTensorFormat_t : int { CUDNN_TENSOR_NHWC = 1 };
enum cudnnMathType_t : int { CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH = 1, CUDNN_FMA_MATH = 3 };
enum cudnnConvolutionMode_t : int { CUDNN_CROSS_CORRELATION = 1 };
enum cudnnConvolutionFwdAlgo_t : int { CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM = 1 };
enum cudnnActivationMode_t : int { CUDNN_ACTIVATION_RELU = 1, CUDNN_ACTIVATION_IDENTITY = 5 };
enum cudnnNanPropagation_t : int { CUDNN_PROPAGATE_NAN = 1 };

struct cudnnConvolutionFwdAlgoPerf_t {
  cudnnConvolutionFwdAlgo_t algo;
  cudnnStatus_t status;
  float time;
  std::size_t memory;
  int determinism;
  cudnnMathType_t mathType;
  int reserved[3];
};

// clang-format off
#define SACCADE_CUDNN(X)                                                                                          \
  X(cudnnCreate, (cudnnHandle_t * handle))                                                                        \
  X(cudnnSetStream, (cudnnHandle_t handle, CUstream stream))                                                      \
  X(cudnnCreateTensorDescriptor, (cudnnTensorDescriptor_t * made))                                                \
  X(cudnnDestroyTensorDescriptor, (cudnnTensorDescriptor_t tensor))                                               \
  X(cudnnSetTensor4dDescriptorEx, (cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int n, int c, int h,     \
                                   int w, int n_stride, int c_stride, int h_stride, int w_stride))                \
  X(cudnnCreateFilterDescriptor, (cudnnFilterDescriptor_t * made))                                                \
  X(cudnnDestroyFilterDescriptor, (cudnnFilterDescriptor_t filter))                                               \
  X(cudnnSetFilter4dDescriptor, (cudnnFilterDescriptor_t filter, cudnnDataType_t type,                            \
                                 cudnnTensorFormat_t format, int k, int c, int h, int w))                         \
  X(cudnnCreateConvolutionDescriptor, (cudnnConvolutionDescriptor_t * made))                                      \
  X(cudnnDestroyConvolutionDescriptor, (cudnnConvolutionDescriptor_t convolution))                                \
  X(cudnnSetConvolution2dDescriptor, (cudnnConvolutionDescriptor_t convolution, int pad_y, int pad_x,             \
                                      int stride_y, int stride_x, int dilation_y, int dilation_x,                 \
                                      cudnnConvolutionMode_t mode, cudnnDataType_t compute))                      \
  X(cudnnSetConvolutionGroupCount, (cudnnConvolutionDescriptor_t convolution, int groups))                        \
  X(cudnnSetConvolutionMathType, (cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math))                \
  X(cudnnCreateActivationDescriptor, (cudnnActivationDescriptor_t * made))                                        \
  X(cudnnDestroyActivationDescriptor, (cudnnActivationDescriptor_t activation))                                   \
  X(cudnnSetActivationDescriptor, (cudnnActivationDescriptor_t activation, cudnnActivationMode_t mode,            \
                                   cudnnNanPropagation_t nan, double coefficient))                                \
  X(cudnnGetConvolutionForwardAlgorithm_v7, (cudnnHandle_t handle, cudnnTensorDescriptor_t input,                 \
                                             cudnnFilterDescriptor_t filter,                                      \
                                             cudnnConvolutionDescriptor_t convolution,                            \
                                             cudnnTensorDescriptor_t output, int requested, int* returned,        \
                                             cudnnConvolutionFwdAlgoPerf_t* results))                             \
  X(cudnnGetConvolutionForwardWorkspaceSize, (cudnnHandle_t handle, cudnnTensorDescriptor_t input,                \
                                              cudnnFilterDescriptor_t filter,                                     \
                                              cudnnConvolutionDescriptor_t convolution,                           \
                                              cudnnTensorDescriptor_t output, cudnnConvolutionFwdAlgo_t algo,     \
                                              std::size_t* bytes))                                                \
  X(cudnnConvolutionBiasActivationForward, (cudnnHandle_t handle, const void* alpha1,                             \
                                            cudnnTensorDescriptor_t x_type, const void* x,                        \
                                            cudnnFilterDescriptor_t w_type, const void* w,                        \
                                            cudnnConvolutionDescriptor_t convolution,                             \
                                            cudnnConvolutionFwdAlgo_t algo, void* workspace, std::size_t bytes,   \
                                            const void* alpha2, cudnnTensorDescriptor_t z_type, const void* z,    \
                                            cudnnTensorDescriptor_t bias_type, const void* bias,                  \
                                            cudnnActivationDescriptor_t activation,                               \
                                            cudnnTensorDescriptor_t y_type, void* y))
// clang-format on

struct CudnnApi {
#define SACCADE_CUDNN_POINTER(name, parameters) cudnnStatus_t(*name) parameters = nullptr;
  SACCADE_CUDNN(SACCADE_CUDNN_POINTER)
#undef SACCADE_CUDNN_POINTER
  const char* (*cudnnGetErrorString)(cudnnStatus_t status) = nullptr;
  std::size_t (*cudnnGetVersion)() = nullptr;
};

}  // namespace saccade::cuda
