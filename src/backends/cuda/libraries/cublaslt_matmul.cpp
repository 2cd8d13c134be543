#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/libraries/cublaslt_gemm.hpp"
#include "cuda/libraries/library_launch.hpp"
#include "cuda/plans/gemm_plan.hpp"
#include "cuda/tactics/convolution.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/tf32.hpp"
#include "runtime/memory_planner.hpp"
#include "runtime/storage_alias.hpp"

// MatMul, Gemm and 1x1 Conv by cuBLASLt, if it is installed. Its epilogue applies bias, residual and ReLU; a kernel of
// ours applies other post-ops, since its GELU is the tanh approximation and graphs use erf.
namespace saccade::cuda {
namespace {

constexpr int kOffered = 8;  // algorithms offered to tuning
constexpr const char* kNoAlgorithm = "cuBLASLt has no algorithm for it";

/// A 1x1 Conv: [pixels, channels] x [channels, filters].
bool is_pointwise_convolution(const ConvolutionShape& shape) {
  return shape.taps() == 1 && shape.groups == 1 && shape.stride_y == 1 && shape.stride_x == 1 && shape.pad_y == 0 &&
         shape.pad_x == 0 && shape.out_height == shape.height && shape.out_width == shape.width;
}

LibraryGemm pointwise_gemm(const ConvolutionShape& shape) {
  return {.dtype = shape.dtype,
          .m = std::int64_t{shape.images} * shape.height * shape.width,
          .n = shape.filters,
          .k = shape.channels,
          .left = {.pitch = shape.in_pitch},
          .right = {.pitch = shape.channels},
          .output = {.pitch = shape.out_pitch},
          .transposed = true};
}

LibraryGemm matmul_gemm(const NodeContext& context) {
  const GemmShape shape = gemm_shape(context);
  return {.dtype = shape.dtype,
          .alpha = context.node.is("Gemm") ? context.node.attributes.real("alpha", 1.0F) : 1.0F,
          .batches = shape.batches,
          .m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .left = {.pitch = shape.lda, .stride = shape.a_inner_stride},
          .right = {.pitch = shape.ldb, .stride = shape.b_inner_stride},
          .output = {.pitch = shape.n, .stride = std::int64_t{shape.m} * shape.n},
          .transposed = shape.transposed};
}

/// Alignment of the first element at PLACE, in bytes.
std::uint32_t alignment_of(const StorageView& view, DType dtype) {
  const auto offset = static_cast<std::uint64_t>(view.offset) * (bits_of(dtype) / 8) | kArenaAlignment;
  return std::uint32_t{1} << std::countr_zero(offset);
}

LibraryGemm library_gemm(const NodeContext& context) {
  const bool slides = context.node.is("Conv");
  LibraryGemm gemm = slides ? pointwise_gemm(convolution_shape(context)) : matmul_gemm(context);
  const LibraryEpilogue epilogue = library_epilogue(context);
  gemm.tf32 = takes_tf32(context.node);
  gemm.bias = context.has(2);
  gemm.relu = epilogue.relu;
  gemm.left.alignment = alignment_of(context.input_storage(0), gemm.dtype);
  if (context.constant(1) == nullptr) gemm.right.alignment = alignment_of(context.input_storage(1), gemm.dtype);
  gemm.output.alignment = alignment_of(context.output_storage(), gemm.dtype);
  if (epilogue.residual < 0) return gemm;
  gemm.residual = gemm.output;
  const StorageView view = context.input_storage(epilogue.residual);
  gemm.residual->alignment = alignment_of(view, gemm.dtype);
  if (slides) gemm.residual->pitch = pixel_pitch(context.output().type.shape, view).value_or(gemm.n);
  return gemm;
}

class CublasLtLaunch : public LibraryLaunch {
 public:
  CublasLtLaunch(Device& device, const NodeContext& context)
      : LibraryLaunch(device, context), gemm_(library_gemm(context)) {
    for (int i = 0; i < 2; ++i)
      if (const Tensor* constant = context.constant(i))
        constants_[static_cast<std::size_t>(i)] = keep(bytes_as(*constant, gemm_.dtype));
    if (context.constant(2) != nullptr) {
      std::vector<float> bias = bias_of(context);
      const float beta = context.node.is("Gemm") ? context.node.attributes.real("beta", 1.0F) : 1.0F;
      for (float& value : bias) value *= beta;
      constants_[2] = keep(bytes_as(bias, gemm_.dtype));
    }
    choose(context.configuration);
    warm_up(cublaslt_handle(ordinal()), gemm_, algorithm_);
  }

  std::size_t scratch_bytes() const override {
    return algorithm_.workspace == 0 ? 0 : algorithm_.workspace + kWorkspaceAlignment;
  }
  std::string detail() const override { return algorithm_.to_string(); }

 private:
  class Bound : public BoundLaunch {
   public:
    Bound(const CublasLtLaunch& launch, const Bindings& bindings)
        : algorithm_(launch.algorithm_),
          operands_{.left = launch.operand(bindings, 0),
                    .right = launch.operand(bindings, 1),
                    .residual = launch.residual_of(bindings),
                    .output = bindings.outputs[0].data,
                    .workspace = aligned(bindings.scratch)},
          gemm_(cublaslt_handle(launch.ordinal()), launch.gemm_,
                launch.gemm_.bias ? launch.operand(bindings, 2) : nullptr),
          stream_(queue_of(bindings).stream.get()) {}
    void run() override { gemm_.run(algorithm_, operands_, stream_); }

   private:
    /// Aligns the workspace within the scratch.
    static void* aligned(std::byte* scratch) {
      const std::size_t behind = address_of(scratch) % kWorkspaceAlignment;
      return behind == 0 ? scratch : scratch + (kWorkspaceAlignment - behind);
    }

    const LibraryAlgorithm& algorithm_;
    LibraryOperands operands_;
    CublasLtGemm gemm_;
    CUstream stream_;
  };

  std::unique_ptr<BoundLaunch> bind_library(const Bindings& bindings) const override {
    return std::make_unique<Bound>(*this, bindings);
  }

  const void* operand(const Bindings& bindings, std::size_t input) const {
    return constants_[input] != nullptr ? constants_[input] : bindings.inputs[input].data;
  }

  void choose(std::string_view configuration) {
    const CublasLtGemm gemm(cublaslt_handle(ordinal()), gemm_, constants_[2]);
    if (!configuration.empty()) {
      if (const auto algorithm = gemm.algorithm(configuration)) {
        algorithm_ = *algorithm;
        return;
      }
      log(LogLevel::kWarning, "cuBLASLt has no {} here: it chooses by itself; compile the plan again to tune it",
          configuration);
    }
    const std::vector<LibraryAlgorithm> offered = gemm.algorithms(kOffered);
    if (offered.empty()) fail(ErrorCode::kUnsupported, kNoAlgorithm);
    algorithm_ = offered.front();
  }

  LibraryGemm gemm_;
  std::array<void*, 3> constants_{};  // by input; null: not constant
  LibraryAlgorithm algorithm_;
};

class CublasLtMatMul : public Tactic {
 public:
  explicit CublasLtMatMul(Device& device) : device_(device) {}
  std::string_view name() const override { return "cublaslt.matmul"; }

  Support supports(const NodeContext& context) const override {
    if (Support gemm = supports_operands(context); !gemm) return gemm;
    if (Support epilogue = supports_library_epilogue(context); !epilogue) return epilogue;
    device_.make_current();
    if (cublaslt() == nullptr) return Support::no("there is no libcublasLt.so.13 or libcublasLt.so.12");
    if (cublaslt_handle(device_.ordinal()) == nullptr) return Support::no("cuBLASLt can't use the device");
    try {
      if (offered(context).empty()) return Support::no(kNoAlgorithm);
    } catch (const Error& error) {
      // Whatever failed, another tactic can run the node.
      return Support::no(error.what());
    }
    return {};
  }

  /// Pixel pitches are free. The epilogue kernel needs a dense output.
  bool supports_strided_operands(const NodeContext& context) const override {
    return context.node.is("Conv") && !library_epilogue(context).rest && supports_pitches(context, 1, 1);
  }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    device_.make_current();
    std::vector<std::string> texts;
    for (const LibraryAlgorithm& algorithm : offered(context)) {
      std::string text = algorithm.to_string();
      if (texts.size() < count && std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
    }
    return texts;
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return std::make_unique<CublasLtLaunch>(device_, context);
  }

 private:
  static Support supports_operands(const NodeContext& context) {
    if (context.node.is("Conv")) {
      if (Support sliding = supports_sliding(context); !sliding) return sliding;
      if (context.constant(0) != nullptr) return Support::no("its images are constant");
      return is_pointwise_convolution(convolution_shape(context))
                 ? Support{}
                 : Support::no("it is not a 1x1 convolution with stride 1");
    }
    if (Support gemm = supports_gemm(context); !gemm) return gemm;
    const GemmShape shape = gemm_shape(context);
    return shape.inner_batches == shape.batches ? Support{} : Support::no("its batches broadcast in two nested loops");
  }

  /// Needs the device's context current.
  std::vector<LibraryAlgorithm> offered(const NodeContext& context) const {
    return CublasLtGemm(cublaslt_handle(device_.ordinal()), library_gemm(context), nullptr).algorithms(kOffered);
  }

  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> cublaslt_matmul(Device& device) { return std::make_unique<CublasLtMatMul>(device); }

}  // namespace saccade::cuda
