#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "command.hpp"
#include "common.hpp"
#include "measure/bench/bench_compare.hpp"
#include "measure/bench/bench_report.hpp"
#include "measure/limits/frame_period.hpp"
#include "measure/peers/peer.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/open_model.hpp"
#include "progress.hpp"
#include "random_tensor.hpp"
#include "report.hpp"
#include "runtime/plan_file.hpp"

namespace saccade::app {
namespace {

struct BenchFlags {
  CommonFlags common;
  std::vector<std::string> models;
  BenchOptions options;
  std::vector<std::string> compare;
  double tolerance = 0.05;
};

/// Number of cores available to the process.
int core_count() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

int compare(const BenchFlags& flags) {
  const Comparisons found = compare_benches(flags.compare[0], flags.compare[1], flags.tolerance);
  print_result(
      flags.common.json, [&] { return to_json(found); }, [&] { return to_text(found); });
  return found.any_slower() ? kVerdict : kOk;
}

BenchReport empty_report(const BenchOptions& options) {
  const Backend& backend = choose_backend(options.model);
  return {.device = backend.device_name(),
          .cores = core_count(),
          .libraries = backend.libraries(),
          .runs = options.runs.runs,
          .seconds = options.runs.seconds,
          .loads = options.loads,
          .batch = options.batch,
          .streams = options.streams,
          .frame = to_string(options.frame),
          .resident = options.resident,
          .seed = options.runs.seed,
          .peers = options.peers};
}

void check_residence(const BenchOptions& options) {
  const bool is_torch = std::ranges::any_of(options.peers, [](auto& peer) { return peer.starts_with("torch-"); });
  if (is_torch && options.model.device.kind == Device::Kind::kCuda && !options.resident)
    throw UsageError("--against", "torch keeps its tensors on the GPU: add --resident so that Saccade does, too");
}

int bench(const BenchFlags& flags) {
  if (!flags.compare.empty()) return compare(flags);
  BenchOptions options = flags.options;
  options.model = with_device_of(flags.models.front(), flags.common.model);
  check_residence(options);
  options.draw = [](const Model& model, std::uint64_t seed) { return random_inputs(model, seed); };
  if (!options.peers.empty()) options.peers_python = find_peers_python(options.peers_python);
  BenchReport report = empty_report(options);
  StatusLine line;
  const std::size_t parts =
      static_cast<std::size_t>(options.loads) * (flags.models.size() + (options.together ? 1 : 0));
  std::size_t begun = 0;
  std::string current;
  report.models = bench_models(flags.models, options, [&](const std::string& file, int load, double share) {
    const std::string part = fmt::format("load {} of {}, {}", load + 1, options.loads, file);
    if (part != std::exchange(current, part)) ++begun;
    const double done = (static_cast<double>(begun) - 1 + share) / static_cast<double>(parts);
    line.say("bench", part, done);
  });
  line.finish();
  print_result(
      flags.common.json, [&] { return to_json(report); }, [&] { return to_text(report); });
  return std::ranges::all_of(report.models, &BenchedModel::agrees) ? kOk : kVerdict;
}

void bind_loads(FlagBinder& binder, BenchOptions& options) {
  binder.bind("--runs", &options.runs.runs);
  binder.bind("--duration", &options.runs.seconds);
  binder.bind("--loads", &options.loads);
  binder.bind("--batch", &options.batch);
  binder.bind("--from-frames", &options.from_frames);
  binder.bind("--streams", &options.streams);
  binder.bind("--seed", &options.runs.seed);
  binder.bind("--frame", [&options](const std::string& text) { options.frame = parse_frame_size(text); });
  binder.bind("--together", &options.together);
  binder.bind("--tensors", &options.tensors);
  binder.bind("--resident", &options.resident);
}

/// Rejects invalid combinations of flags.
void check(const BenchFlags& flags) {
  if (flags.models.empty() == flags.compare.empty())
    throw UsageError("bench", "give either models or --compare A.json B.json");
  if (flags.options.streams > 1 && !flags.options.peers.empty())
    throw UsageError("--against", "other engines run one stream: omit --streams");
  const BenchOptions& options = flags.options;
  if (!options.peers.empty() && options.peers_model.empty() && std::ranges::any_of(flags.models, is_plan_file))
    throw UsageError("--against", "other engines can't read a plan: name its ONNX file with --peers-model");
  if (!options.peers_model.empty() && flags.models.size() > 1) throw UsageError("--peers-model", "give one model");
  if (options.from_frames && (options.tensors || options.resident || !options.peers.empty()))
    throw UsageError("--from-frames", "omit --tensors, --resident and --against, which run on raw tensors");
  if (options.together && (flags.models.size() < 2 || options.tensors || (options.batch > 1 && !options.from_frames) ||
                           !options.peers.empty() || options.resident))
    throw UsageError("--together", "give at least two models, to be run on frames");
}

}  // namespace

Action add_bench(FlagBinder& binder) {
  const auto flags = std::make_shared<BenchFlags>();
  binder.bind("MODEL", &flags->models);
  bind_loads(binder, flags->options);
  binder.bind("--against", &flags->options.peers);
  binder.bind("--peers-python", &flags->options.peers_python);
  binder.bind("--peers-model", &flags->options.peers_model);
  binder.bind("--compare", &flags->compare);
  binder.bind("--tolerance", &flags->tolerance);
  flags->common.bind(binder);
  flags->common.bind_predictions(binder);
  return {.run = [flags] { return bench(*flags); }, .check = [flags] { check(*flags); }};
}

}  // namespace saccade::app
