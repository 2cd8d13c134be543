#include "cuda/backend.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/processors.hpp"
#include "cuda/driver/compiler.hpp"
#include "cuda/driver/monitor.hpp"
#include "cuda/driver/shared_memory.hpp"
#include "cuda/executor/graph_executor.hpp"
#include "cuda/executor/rates.hpp"
#include "cuda/libraries/cublaslt.hpp"
#include "cuda/libraries/cudnn.hpp"
#include "cuda/tactics/attention.hpp"
#include "cuda/tactics/convolution.hpp"
#include "cuda/tactics/fused_elements.hpp"
#include "cuda/tactics/host_fallback.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/layers/strided_attention.hpp"
#include "runtime/cuda_backend.hpp"

namespace saccade::cuda {
namespace {

/// As cuDNN 9 and cuBLAS encode their versions.
std::string version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

class CudaBackend : public Backend {
 public:
  CudaBackend(Device& device, bool fallback, bool graph) : device_(device), graph_(graph) {
    // In order of preference.
    own_.push_back(depthwise_convolution(device));
    own_.push_back(warpgroup_gemm(device));
    own_.push_back(tiled_convolution(device));
    own_.push_back(cudnn_convolution(device));
    own_.push_back(tiled_transposed_convolution(device));
    own_.push_back(tiled_quantized_convolution(device));
    own_.push_back(tiled_matmul(device));
    own_.push_back(cublaslt_matmul(device));
    own_.push_back(warpgroup_attention(device));
    own_.push_back(fused_attention(device));
    own_.push_back(elements(device));
    own_.push_back(moves(device));
    own_.push_back(fused_elements(device));
    own_.push_back(preprocess(device));
    own_.push_back(prediction_ops(device));
    own_.push_back(decode(device));
    own_.push_back(select_boxes(device));
    own_.push_back(select_queries(device));
    own_.push_back(trace_masks(device));
    own_.push_back(top_classes(device));
    own_.push_back(row_softmax(device));
    own_.push_back(layer_normalization(device));
    own_.push_back(group_normalization(device));
    own_.push_back(batch_normalization(device));
    own_.push_back(row_reductions(device));
    own_.push_back(pooling(device));
    own_.push_back(channel_resize(device));
    own_.push_back(resize(device));
    own_.push_back(grid_sample(device));
    own_.push_back(roi_align(device));
    own_.push_back(gathers(device));
    own_.push_back(scatters(device));
    own_.push_back(top_k(device));
    own_.push_back(one_hot(device));
    own_.push_back(linear_quantization(device));
    own_.push_back(quantized_pairs(device));
    own_.push_back(integer_products(device));
    own_.push_back(direct_convolution(device));
    own_.push_back(direct_matmul(device));
    for (const auto& tactic : own_) tactics_.push_back(tactic.get());
    if (fallback) tactics_.push_back(&host_fallback());
  }

  std::string_view name() const override { return "cuda"; }
  std::span<const Tactic* const> tactics() const override { return tactics_; }
  Target target() const override {
    return {.layout_rule =
                [this](const Graph& graph, const Node& node) {
                  return layout_rule({graph, node});
                },
            .can_fuse =
                [](const Graph& graph, const Node& node) {
                  return fuses_elements({graph, node});
                },
            .has_kernel = [this](const Graph& graph, const Node& node) { return has_kernel(*this, graph, node); },
            .fuses_attention = true};
  }
  std::unique_ptr<Runner> make_runner(const Plan& plan) const override {
    return std::make_unique<GraphExecutor>(device_, plan, graph_);
  }
  void prepare_thread(int) const override { device_.make_current(); }
  std::string device_name() const override { return device_.name(); }
  std::string libraries() const override {
    device_.make_current();
    std::vector<std::string> found;
    if (cudnn_runs(device_.ordinal())) found.push_back("cuDNN " + version_text(cudnn()->cudnnGetVersion()));
    if (cublaslt_handle(device_.ordinal()) != nullptr)
      found.push_back("cuBLASLt " + version_text(cublaslt()->cublasLtGetVersion()));
    return fmt::format("{}", fmt::join(found, ", "));
  }
  std::string kernel_version() const override { return kernel_headers_digest(); }
  int compile_threads() const override { return available_processors(); }
  bool overlaps_frames() const override { return true; }
  void add_images(KernelImages images) const override { device_.add_images(std::move(images)); }

 private:
  LayoutRule layout_rule(const NodeContext& context) const {
    const auto runs = [&](const auto& tactic) { return tactic->supports(context).yes; };
    // Nodes that run on the host keep the layout their reference kernel reads.
    if (std::ranges::none_of(own_, runs)) return LayoutRule::kRowMajor;
    if (context.node.op == "StridedAttention") return attention_layout_rule(context.graph, context.node);
    if (!context.node.domain.empty()) return LayoutRule::kAny;
    const std::string& op = context.node.op;
    // operator list: implicit GEMMs and pools, whose kernels load contiguous channels.
    if (op == "Conv" || op == "QLinearConv" || op == "ConvTranspose" || op == "MaxPool" || op == "AveragePool")
      return LayoutRule::kChannelsLast;
    // Row-major: tiles and row kernels read whole rows.
    if (op == "MatMul" || op == "Gemm" || op == "LayerNormalization" || op == "RMSNormalization")
      return LayoutRule::kRowMajor;
    return LayoutRule::kAny;
  }

  Device& device_;
  bool graph_;
  std::vector<std::unique_ptr<Tactic>> own_;
  std::vector<const Tactic*> tactics_;
};

GpuRates rates(int ordinal, const GpuRateOptions& options) { return measure_rates(Device::get(ordinal), options); }

void check_compiler() { compiler_version(); }

const CudaModule kModule{.backend = backend,
                         .rates = rates,
                         .check_compiler = check_compiler,
                         .monitor = monitor,
                         .open_memory = open_memory};

}  // namespace

const Backend& backend(int ordinal, bool fallback, bool graph) {
  static std::mutex mutex;
  static std::map<std::tuple<int, bool, bool>, std::unique_ptr<CudaBackend>> backends;
  Device& device = Device::get(ordinal);
  const std::scoped_lock lock(mutex);
  auto& made = backends[{ordinal, fallback, graph}];
  if (made == nullptr) made = std::make_unique<CudaBackend>(device, fallback, graph);
  return *made;
}

}  // namespace saccade::cuda

extern "C" const saccade::CudaModule* saccade_module_cuda() { return &saccade::cuda::kModule; }
