#include "pipeline/model/write_plan.hpp"

#include <filesystem>

#include "base/file_registry.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/lowering.hpp"
#include "pipeline/model/model_impl.hpp"
#include "runtime/tactic_cache.hpp"

namespace saccade {
namespace {

class PlanWriter {
 public:
  PlanWriter(const std::string& path, const WritePlanOptions& options)
      : asked_(options), model_(Model::load(path, options.model)), backend_(choose_backend(model_.options())) {
    facts_.backend = model_.options().device.kind;
    facts_.device = backend_.device_name();
    facts_.kernel_version = backend_.kernel_version();
    facts_.precision = model_.options().precision;
    facts_.fallback = model_.options().fallback;
    if (is_measured()) known_ = cached_choices(backend_, model_.options().threads);
  }

  void choose_precision() {
    if (!asked_.choose_precision || facts_.precision != Precision::kAuto) return;
    DecidedPrecision decided = asked_.choose_precision(model_);
    facts_.precision = decided.precision;
    if (facts_.precision == Precision::kAuto || facts_.precision == Precision::kFp32) return;
    impl_of(model_).use_precision(decided);
    facts_.keep_for_accuracy = std::move(decided.keep_fp32);
  }

  WrittenPlan write(const std::string& path) {
    const auto start = Clock::now();
    const Card* card = find_card();
    if (card != nullptr) {
      facts_.card = to_toml(*card);
      facts_.keep_fp32 = add("frames", attach(graph(), *card, model_.options().post).graph, PlanFor::kFrames);
    }
    facts_.keep_fp32_on_tensors = add("tensors", graph(), PlanFor::kTensors);
    save_plan(path, graph(), facts_);
    written_.device = facts_.device;
    written_.precision = facts_.precision;
    written_.kernels = facts_.kernels.size();
    std::error_code error;  // standard output and pipes have no size
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    written_.bytes = error ? 0 : bytes;
    written_.time = Clock::now() - start;
    return std::move(written_);
  }

 private:
  const Graph& graph() const { return impl_of(model_).graph(); }
  /// Whether the device's tactics have a version, so that results of tuning can be cached.
  bool is_measured() const { return !facts_.kernel_version.empty(); }

  const Card* find_card() {
    try {
      return &impl_of(model_).card();
    } catch (const Error& error) {
      if (!asked_.model.card.empty() || error.code() != ErrorCode::kUnsupported) throw;
      written_.unrecognised = error.what();
      return nullptr;
    }
  }

  /// Lowers GRAPH and tunes it. Returns its Fp32KeepList::values; nullopt if passes are disabled, which changes names.
  std::optional<ValueNames> add(const std::string& what, Graph graph, PlanFor fed) {
    const ModelOptions& options = model_.options();
    const Fp32KeepList& keep_fp32 = impl_of(model_).fp32_keep_list(fed, graph);
    written_.keep_fp32.add(keep_fp32);
    run_passes(graph, pass_options(options, backend_, keep_fp32));
    const Graph lowered = graph;
    TuneOptions tuning{.compile = {.threads = options.threads, .max_memory = options.max_memory, .choices = &known_},
                       .passes = asked_.tune ? 2 : 0};
    if (asked_.on_progress)
      tuning.on_progress = [&](const TuneProgress& progress) { asked_.on_progress(what, progress); };
    TuneReport report = tune(std::move(graph), backend_, tuning);
    if (is_measured()) {
      cache_choices(backend_, options.threads, report.measured);
      for (const auto& [node, choice] : report.measured) known_.insert_or_assign(node, choice);
      facts_.choices.merge(report.choices);
    }
    facts_.kernels.merge(report.images);
    record_packed(lowered, report.choices);
    written_.reports.emplace_back(what, std::move(report));
    if (disables_passes(options)) return {};
    return keep_fp32.values;
  }

  /// Adds the weights as the launches of CHOICES have packed them.
  void record_packed(const Graph& lowered, const TacticChoices& choices) {
    if (facts_.backend != Device::Kind::kCpu) return;  // only its tactics pack, and this compiles all launches again
    PackedConstants packed;
    packed.record();
    const ModelOptions& options = model_.options();
    Plan::compile(
        lowered, backend_,
        {.threads = options.threads, .max_memory = options.max_memory, .choices = &choices, .packed = &packed});
    facts_.packed.insert(packed.tensors().begin(), packed.tensors().end());
  }

  const WritePlanOptions& asked_;
  Model model_;
  const Backend& backend_;
  PlanFacts facts_;
  TacticChoices known_;
  WrittenPlan written_;
};

}  // namespace

WrittenPlan write_plan(const std::string& path, const std::string& plan, const WritePlanOptions& options) {
  PlanWriter writer(path, options);
  check_output(plan);  // before minutes of tuning
  writer.choose_precision();
  return writer.write(plan);
}

}  // namespace saccade
