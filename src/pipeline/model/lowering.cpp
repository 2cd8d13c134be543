#include "pipeline/model/lowering.hpp"

#include "pipeline/model/device.hpp"

namespace saccade {
namespace {

MixedPrecision precision_of(const ModelOptions& options, Fp32KeepList keep_fp32) {
  MixedPrecision precision{.keep_fp32 = std::move(keep_fp32), .tf32 = options.precision == Precision::kTf32};
  if (options.precision == Precision::kFp16) precision.half = DType::kFloat16;
  if (options.precision == Precision::kBf16) precision.half = DType::kBFloat16;
  return precision;
}

}  // namespace

PassOptions pass_options(const ModelOptions& options, const Backend& backend, Fp32KeepList keep_fp32) {
  PassOptions passes{.target = backend.target(), .precision = precision_of(options, std::move(keep_fp32))};
  if (options.only_passes) passes.disabled = passes_except({options.only_passes->begin(), options.only_passes->end()});
  passes.disabled.insert(options.disabled_passes.begin(), options.disabled_passes.end());
  passes.max_memory = options.max_memory;
  return passes;
}

bool lower_to_narrowing(Graph& graph, const ModelOptions& options) {
  constexpr std::string_view kPass = "narrow_floats";
  PassOptions passes = pass_options(options, choose_backend(options));
  if (passes.disabled.contains(kPass)) return false;
  passes.disabled.merge(passes_from(kPass));
  run_passes(graph, passes);
  return true;
}

bool disables_passes(const ModelOptions& options) { return options.only_passes || !options.disabled_passes.empty(); }

}  // namespace saccade
