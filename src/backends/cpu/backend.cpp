#include <dnnl.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/elf.hpp"
#include "cpu/device.hpp"
#include "cpu/instruction_sets.hpp"
#include "cpu/isolated_node.hpp"
#include "cpu/layout_rules.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/nan_watch.hpp"
#include "cpu/team/team.hpp"
#include "runtime/cpu_backend.hpp"
#include "runtime/reference_backend.hpp"
#include "runtime/runner.hpp"

extern "C" const saccade::CpuModule* saccade_module_cpu();

namespace saccade::cpu {
namespace {

std::string onednn() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version.major, version.minor, version.patch);
}

/// Empty without a build ID: measurements of other kernels would count as of these.
std::string kernel_version_of(const std::string& build_id) {
  return build_id.empty() ? build_id : fmt::format("{}, {}", build_id, onednn());
}

class CpuBackend : public Backend {
 public:
  CpuBackend() { apply_isa_limit(); }
  std::string_view name() const override { return "cpu"; }
  std::span<const Tactic* const> tactics() const override { return tactics_; }
  Target target() const override {
    return {.layout_rule =
                [this](const Graph& graph, const Node& node) {
                  return layout_rule({graph, node});
                },
            .has_kernel = [this](const Graph& graph, const Node& node) { return has_kernel(*this, graph, node); },
            .has_half_kernel =
                [this](const Graph& graph, const Node& node, DType dtype) {
                  return has_half_kernel({graph, node}, dtype);
                },
            .half_precision = false,
            .splits_conv_transpose = true,
            .fuses_attention = true};
  }
  std::unique_ptr<Runner> make_runner(const Plan& plan) const override { return make_host_runner(plan); }
  void prepare_thread(int threads) const override { set_team_size(threads); }
  bool met_nan() const override { return cpu::met_nan(); }
  std::string device_name() const override { return cpu::device_name(); }
  std::string libraries() const override { return onednn(); }
  std::string kernel_version() const override { return kernel_version_; }
  bool runs_on_threads() const override { return true; }
  double timing_noise() const override { return 0.001; }

 private:
  /// Whether a tactic supports the node. Reference kernels, whole or in slices, read row-major tensors only and have no
  /// part in it.
  bool runs(const NodeContext& context) const {
    return std::ranges::any_of(tactics_, [&](const Tactic* tactic) {
      return tactic != &reference_tactic() && tactic != &sliced_elementwise() && tactic->supports(context).yes;
    });
  }
  bool runs_channels_last(const NodeContext& context) const {
    IsolatedNode node(context);
    node.lay_out_channels_last();
    return runs(node.context());
  }

  LayoutRule layout_rule(const NodeContext& context) const {
    const LayoutRule rule = cpu::layout_rule(context);
    if (rule == LayoutRule::kRowMajor) return rule;
    const bool is_half = context.output().type.dtype == DType::kBFloat16;
    const bool runs_row_major = runs(context);
    // Kernels of float32 that run in either layout do so for all operands, some of bfloat16 in one of them only.
    if (runs_row_major && !is_half) return rule;
    if (runs_channels_last(context)) return runs_row_major ? rule : LayoutRule::kChannelsLast;
    return LayoutRule::kRowMajor;
  }

  bool has_half_kernel(const NodeContext& context, DType dtype) const {
    if (dtype != DType::kBFloat16) return false;
    IsolatedNode node(context);
    node.compute_in(dtype);
    return runs(node.context()) ||
           (cpu::layout_rule(node.context()) != LayoutRule::kRowMajor && runs_channels_last(node.context()));
  }

  const std::string kernel_version_ = kernel_version_of(build_id(reinterpret_cast<const void*>(&saccade_module_cpu)));
  // In order of preference.
  // clang-format off
  std::vector<const Tactic*> tactics_{
      &bf16_attention(),
      &bf16_convolution(),
      &bf16_depthwise(),
      &bf16_matmul(),
      &bf16_max_pool(),
      &bf16_winograd(),
      &onednn_convolution(),
      &onednn_deconvolution(),
      &onednn_matmul(),
      &onednn_pooling(),
      &onednn_quantized_convolution(),
      &onednn_integer_convolution(),
      &onednn_quantized_matmul(),
      &vector_arg_max(),
      &vector_attention(),
      &vector_box_masks(),
      &vector_convert(),
      &vector_winograd(),
      &vector_convolution(),
      &vector_dynamic_quantize(),
      &vector_elementwise(),
      &vector_gather(),
      &vector_grid_sample(),
      &vector_group_norm(),
      &vector_layer_norm(),
      &vector_matmul(),
      &vector_max_pool(),
      &vector_move(),
      &vector_preprocess(),
      &vector_reduce(),
      &vector_resize(),
      &vector_roi_align(),
      &vector_softmax(),
      &vector_top_k(),
      &vector_trace_masks(),
      &sliced_elementwise(),
      &reference_tactic(),
  };
  // clang-format on
};

const Backend& backend() {
  static const CpuBackend backend;
  return backend;
}

const CpuModule kModule{.backend = backend};

}  // namespace
}  // namespace saccade::cpu

extern "C" const saccade::CpuModule* saccade_module_cpu() { return &saccade::cpu::kModule; }
