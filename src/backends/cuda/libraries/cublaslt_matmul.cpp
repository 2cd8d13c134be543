#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/libraries/cublaslt_product.hpp"
#include "cuda/libraries/library_launch.hpp"
#include "cuda/plans/gemm_plan.hpp"
#include "cuda/tactics/convolution.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/tf32.hpp"
#include "runtime/memory_planner.hpp"

// MatMul, Gemm and Conv of single pixels by cuBLASLt, where it is installed. Bias, the residual and ReLU are done by
// it, other post-ops by a kernel of ours behind it: its GELU is the one by tanh, that of graphs the one by erf.
namespace saccade::cuda {
namespace {

constexpr int kOffered = 8;  // algorithms between which tuning may choose
constexpr const char* kNoAlgorithm = "cuBLASLt has no algorithm for it";

/// A Conv whose window is a pixel: pixels times channels, by channels times filters.
bool is_product_of_pixels(const ConvolutionShape& shape) {
  return shape.taps() == 1 && shape.groups == 1 && shape.stride_y == 1 && shape.stride_x == 1 && shape.pad_y == 0 &&
         shape.pad_x == 0 && shape.out_height == shape.height && shape.out_width == shape.width;
}

LibraryProduct product_of_pixels(const ConvolutionShape& shape) {
  return {.dtype = shape.dtype,
          .m = std::int64_t{shape.images} * shape.height * shape.width,
          .n = shape.filters,
          .k = shape.channels,
          .left = {.pitch = shape.in_pitch},
          .right = {.pitch = shape.channels},
          .output = {.pitch = shape.out_pitch},
          .transposed = true};
}

LibraryProduct product_of_matrices(const NodeContext& context) {
  const ProductShape shape = matrix_product(context);
  return {.dtype = shape.dtype,
          .alpha = context.node.is("Gemm") ? context.node.attributes.real("alpha", 1.0F) : 1.0F,
          .batches = shape.batches,
          .m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .left = {.pitch = shape.left_row, .stride = shape.left_inner},
          .right = {.pitch = shape.right_row, .stride = shape.right_inner},
          .output = {.pitch = shape.n, .stride = std::int64_t{shape.m} * shape.n},
          .transposed = shape.transposed};
}

/// How the first element of what lies at PLACE is aligned, in bytes.
std::uint32_t alignment_of(const Place& place, DType dtype) {
  const auto offset = static_cast<std::uint64_t>(place.offset) * (bits_of(dtype) / 8) | kArenaAlignment;
  return std::uint32_t{1} << std::countr_zero(offset);
}

LibraryProduct library_product(const NodeContext& context) {
  const bool slides = context.node.is("Conv");
  LibraryProduct product = slides ? product_of_pixels(convolution_shape(context)) : product_of_matrices(context);
  const LibraryTail tail = library_tail(context);
  product.tf32 = takes_tf32(context.node);
  product.bias = context.has(2);
  product.relu = tail.relu;
  product.left.alignment = alignment_of(context.input_place(0), product.dtype);
  if (context.constant(1) == nullptr) product.right.alignment = alignment_of(context.input_place(1), product.dtype);
  product.output.alignment = alignment_of(context.output_place(), product.dtype);
  if (tail.residual < 0) return product;
  product.residual = product.output;
  const Place place = context.input_place(tail.residual);
  product.residual->alignment = alignment_of(place, product.dtype);
  if (slides) product.residual->pitch = pixel_pitch(context.output().type.shape, place).value_or(product.n);
  return product;
}

class CublasLtLaunch : public LibraryLaunch {
 public:
  CublasLtLaunch(Device& device, const NodeContext& context)
      : LibraryLaunch(device, context), product_(library_product(context)) {
    for (int i = 0; i < 2; ++i)
      if (const Tensor* constant = context.constant(i))
        constants_[static_cast<std::size_t>(i)] = keep(bytes_as(*constant, product_.dtype));
    if (context.constant(2) != nullptr) {
      std::vector<float> bias = bias_of(context);
      const float beta = context.node.is("Gemm") ? context.node.attributes.real("beta", 1.0F) : 1.0F;
      for (float& value : bias) value *= beta;
      constants_[2] = keep(bytes_as(bias, product_.dtype));
    }
    choose(context.configuration);
    warm_up(cublaslt_handle(ordinal()), product_, algorithm_);
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
          product_(cublaslt_handle(launch.ordinal()), launch.product_,
                   launch.product_.bias ? launch.operand(bindings, 2) : nullptr),
          stream_(queue_of(bindings).stream.get()) {}
    void run() override { product_.run(algorithm_, operands_, stream_); }

   private:
    /// The scratch's first place for a workspace.
    static void* aligned(std::byte* scratch) {
      const std::size_t behind = address_of(scratch) % kWorkspaceAlignment;
      return behind == 0 ? scratch : scratch + (kWorkspaceAlignment - behind);
    }

    const LibraryAlgorithm& algorithm_;
    LibraryOperands operands_;
    CublasLtProduct product_;
    CUstream stream_;
  };

  std::unique_ptr<BoundLaunch> bind_library(const Bindings& bindings) const override {
    return std::make_unique<Bound>(*this, bindings);
  }

  const void* operand(const Bindings& bindings, std::size_t input) const {
    return constants_[input] != nullptr ? constants_[input] : bindings.inputs[input].data;
  }

  void choose(std::string_view configuration) {
    const CublasLtProduct product(cublaslt_handle(ordinal()), product_, constants_[2]);
    if (!configuration.empty()) {
      if (const auto asked = product.algorithm(configuration)) {
        algorithm_ = *asked;
        return;
      }
      log(LogLevel::kWarning, "cuBLASLt has no {} here: it chooses by itself; compile the plan again to tune it",
          configuration);
    }
    const std::vector<LibraryAlgorithm> offered = product.algorithms(kOffered);
    if (offered.empty()) fail(ErrorCode::kUnsupported, kNoAlgorithm);
    algorithm_ = offered.front();
  }

  LibraryProduct product_;
  std::array<void*, 3> constants_{};  // by input; null: it is none
  LibraryAlgorithm algorithm_;
};

class CublasLtMatMul : public Tactic {
 public:
  explicit CublasLtMatMul(Device& device) : device_(device) {}
  std::string_view name() const override { return "cublaslt.matmul"; }

  Support supports(const NodeContext& context) const override {
    if (Support product = supports_operands(context); !product) return product;
    if (Support tail = supports_tail(context); !tail) return tail;
    device_.make_current();
    if (cublaslt() == nullptr) return Support::no("there is no libcublasLt.so.13 or libcublasLt.so.12");
    if (cublaslt_handle(device_.ordinal()) == nullptr) return Support::no("cuBLASLt can't use the device");
    try {
      if (offered(context).empty()) return Support::no(kNoAlgorithm);
    } catch (const Error& error) {
      // Whatever it is about, others can run the node.
      return Support::no(error.what());
    }
    return {};
  }

  /// Pixels may be any number of elements apart; a kernel behind the library takes its output dense.
  bool takes_strides(const NodeContext& context) const override {
    return context.node.is("Conv") && !library_tail(context).rest && takes_pitches(context, 1, 1);
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
      return is_product_of_pixels(convolution_shape(context)) ? Support{} : Support::no("its window is not one pixel");
    }
    if (Support product = supports_matrix_product(context); !product) return product;
    const ProductShape shape = matrix_product(context);
    return shape.inner_batches == shape.batches ? Support{} : Support::no("its batches broadcast in two nested loops");
  }

  /// Needs the device's context.
  std::vector<LibraryAlgorithm> offered(const NodeContext& context) const {
    return CublasLtProduct(cublaslt_handle(device_.ordinal()), library_product(context), nullptr).algorithms(kOffered);
  }

  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> cublaslt_matmul(Device& device) { return std::make_unique<CublasLtMatMul>(device); }

}  // namespace saccade::cuda
