#include <array>

#include "base/error.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/libraries/cudnn.hpp"
#include "cuda/libraries/library_launch.hpp"
#include "cuda/tactics/convolution.hpp"
#include "cuda/tactics/tactics.hpp"

// Conv by cuDNN, if it is installed; competitive with kernels/convolution.cuh at large batch sizes. Its epilogue
// applies bias, residual and ReLU; a kernel of ours applies other post-ops. NHWC tensors must be dense.
namespace saccade::cuda {
namespace {

constexpr std::size_t kMaxMemory = std::size_t{256} << 20;

cudnnDataType_t cudnn_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return CUDNN_DATA_HALF;
    case DType::kBFloat16: return CUDNN_DATA_BFLOAT16;
    default: return CUDNN_DATA_FLOAT;
  }
}

/// cuDNN's descriptors of a convolution.
class Descriptors {
 public:
  Descriptors(const ConvolutionShape& shape, bool relu) {
    const cudnnDataType_t type = cudnn_type(shape.dtype);
    const int channels = shape.groups * shape.channels;
    const int filters = shape.groups * shape.filters;
    describe(input, type, {shape.images, channels, shape.height, shape.width});
    describe(output, type, {shape.images, filters, shape.out_height, shape.out_width});
    describe(bias, type, {1, filters, 1, 1});
    filter = make<CudnnFilter, &CudnnApi::cudnnCreateFilterDescriptor>();
    SACCADE_CUDNN_CALL(cudnnSetFilter4dDescriptor(filter.get(), type, CUDNN_TENSOR_NHWC, filters, shape.channels,
                                                  shape.kernel_height, shape.kernel_width));
    convolution = make<CudnnConvolution, &CudnnApi::cudnnCreateConvolutionDescriptor>();
    SACCADE_CUDNN_CALL(cudnnSetConvolution2dDescriptor(convolution.get(), shape.pad_y, shape.pad_x, shape.stride_y,
                                                       shape.stride_x, shape.dilation_y, shape.dilation_x,
                                                       CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    SACCADE_CUDNN_CALL(cudnnSetConvolutionGroupCount(convolution.get(), shape.groups));
    const bool plain = shape.dtype == DType::kFloat32 && !shape.tf32;
    SACCADE_CUDNN_CALL(cudnnSetConvolutionMathType(convolution.get(), plain ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH));
    activation = make<CudnnActivation, &CudnnApi::cudnnCreateActivationDescriptor>();
    SACCADE_CUDNN_CALL(cudnnSetActivationDescriptor(
        activation.get(), relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY, CUDNN_PROPAGATE_NAN, 0));
  }

  CudnnTensor input, output, bias;
  CudnnFilter filter;
  CudnnConvolution convolution;
  CudnnActivation activation;

 private:
  template <typename Owner, auto Create>
  static Owner make() {
    typename Owner::pointer made = nullptr;
    check_cudnn((cudnn()->*Create)(&made), "a descriptor");
    return Owner(made);
  }
  static void describe(CudnnTensor& tensor, cudnnDataType_t type, const std::array<int, 4>& nchw) {
    const auto [n, c, h, w] = nchw;
    tensor = make<CudnnTensor, &CudnnApi::cudnnCreateTensorDescriptor>();
    SACCADE_CUDNN_CALL(cudnnSetTensor4dDescriptorEx(tensor.get(), type, n, c, h, w, h * w * c, 1, w * c, c));
  }
};

/// Reorders FROM from filter, channel, tap to filter, tap, channel.
std::vector<std::byte> channels_last(const std::vector<float>& from, const ConvolutionShape& shape) {
  const auto taps = static_cast<std::size_t>(shape.taps());
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::vector<float> to(from.size());
  for (std::size_t filter = 0; filter * channels * taps < from.size(); ++filter)
    for (std::size_t channel = 0; channel < channels; ++channel)
      for (std::size_t tap = 0; tap < taps; ++tap)
        to[(filter * taps + tap) * channels + channel] = from[(filter * channels + channel) * taps + tap];
  return bytes_as(to, shape.dtype);
}

class CudnnLaunch : public LibraryLaunch {
 public:
  CudnnLaunch(Device& device, const NodeContext& context)
      : LibraryLaunch(device, context), shape_(convolution_shape(context)), types_(shape_, epilogue().relu) {
    weights_ = keep(channels_last(floats_of(*context.constant(1)), shape_));
    std::vector<float> bias = bias_of(context);
    bias.resize(static_cast<std::size_t>(shape_.groups) * static_cast<std::size_t>(shape_.filters));
    bias_ = keep(bytes_as(bias, shape_.dtype));
    choose();
  }

  std::size_t scratch_bytes() const override { return workspace_; }
  std::string detail() const override { return fmt::format("algorithm {}", static_cast<int>(algorithm_)); }

 private:
  class Bound : public BoundLaunch {
   public:
    Bound(const CudnnLaunch& launch, const Bindings& bindings)
        : launch_(launch),
          stream_(queue_of(bindings).stream.get()),
          input_(bindings.inputs[0].data),
          output_(bindings.outputs[0].data),
          residual_(launch.residual_of(bindings)),
          scratch_(bindings.scratch) {}
    void run() override { launch_.run(stream_, input_, residual_, output_, scratch_); }

   private:
    const CudnnLaunch& launch_;
    CUstream stream_;
    void* input_;
    void* output_;
    void* residual_;
    std::byte* scratch_;
  };

  std::unique_ptr<BoundLaunch> bind_library(const Bindings& bindings) const override {
    return std::make_unique<Bound>(*this, bindings);
  }

  /// The first supported algorithm of cuDNN's heuristic. Without ReLU only IMPLICIT_PRECOMP_GEMM supports the fused
  /// call.
  void choose() {
    const CudnnHandle handle(ordinal(), nullptr);
    std::array<cudnnConvolutionFwdAlgoPerf_t, 8> results{};
    int count = 0;
    SACCADE_CUDNN_CALL(cudnnGetConvolutionForwardAlgorithm_v7(
        handle.get(), types_.input.get(), types_.filter.get(), types_.convolution.get(), types_.output.get(),
        static_cast<int>(results.size()), &count, results.data()));
    for (int i = count - 1; i >= 0; --i) {
      const auto& result = results[static_cast<std::size_t>(i)];
      const bool possible = result.status == CUDNN_STATUS_SUCCESS && result.memory <= kMaxMemory;
      const bool fits = epilogue().relu || result.algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
      if (possible && fits) algorithm_ = result.algo;
    }
    SACCADE_CUDNN_CALL(cudnnGetConvolutionForwardWorkspaceSize(handle.get(), types_.input.get(), types_.filter.get(),
                                                               types_.convolution.get(), types_.output.get(),
                                                               algorithm_, &workspace_));
  }

  void run(CUstream stream, void* input, void* residual, void* output, void* scratch) const {
    const CudnnHandle handle(ordinal(), stream);
    const float one = 1;
    const float other = residual == nullptr ? 0.0F : 1.0F;
    const void* added = residual == nullptr ? output : residual;
    SACCADE_CUDNN_CALL(cudnnConvolutionBiasActivationForward(
        handle.get(), &one, types_.input.get(), input, types_.filter.get(), weights_, types_.convolution.get(),
        algorithm_, scratch, workspace_, &other, types_.output.get(), added, types_.bias.get(), bias_,
        types_.activation.get(), types_.output.get(), output));
  }

  ConvolutionShape shape_;
  Descriptors types_;
  void* weights_ = nullptr;
  void* bias_ = nullptr;
  cudnnConvolutionFwdAlgo_t algorithm_ = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  std::size_t workspace_ = 0;
};

class CudnnConvolutionTactic : public Tactic {
 public:
  explicit CudnnConvolutionTactic(Device& device) : device_(device) {}
  std::string_view name() const override { return "cudnn.convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return Support::other_operator("not a Conv");
    if (Support sliding = supports_sliding(context); !sliding) return sliding;
    if (Support epilogue = supports_library_epilogue(context); !epilogue) return epilogue;
    const ConvolutionShape shape = convolution_shape(context);
    const auto length = [](int in, int pad, int dilation, int kernel, int stride) {
      return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    };
    if (length(shape.height, shape.pad_y, shape.dilation_y, shape.kernel_height, shape.stride_y) != shape.out_height ||
        length(shape.width, shape.pad_x, shape.dilation_x, shape.kernel_width, shape.stride_x) != shape.out_width)
      return Support::no("its padding is asymmetric");
    device_.make_current();
    if (!cudnn_runs(device_.ordinal())) return Support::no("cuDNN is not installed, or can't use the device");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    device_.make_current();
    return std::make_unique<CudnnLaunch>(device_, context);
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> cudnn_convolution(Device& device) { return std::make_unique<CudnnConvolutionTactic>(device); }

}  // namespace saccade::cuda
