#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "command.hpp"
#include "common.hpp"
#include "measure/bench/bench_compare.hpp"
#include "measure/bench/bench_report.hpp"
#include "measure/limits/frame_period.hpp"
#include "measure/peers/peer.hpp"
#include "numbers.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/open_model.hpp"
#include "progress.hpp"
#include "random_tensor.hpp"
#include "report.hpp"
#include "runtime/cpu_backend.hpp"
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
  if (flags.common.json)
    print_json(to_json(found));
  else
    print_report(to_text(found));
  return found.any_slower() ? kVerdict : kOk;
}

BenchReport empty_report(const BenchFlags& flags) {
  const BenchOptions& options = flags.options;
  const Backend& backend = choose_backend(with_device_of(flags.models.front(), flags.common.model));
  return {.device = backend.device_name(),
          .cores = core_count(),
          .libraries = backend.name() == "cpu" ? cpu_libraries() : "",
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

int bench(const BenchFlags& flags) {
  if (!flags.compare.empty()) return compare(flags);
  BenchOptions options = flags.options;
  options.model = flags.common.model;
  options.draw = [](const Model& model, std::uint64_t seed) { return random_inputs(model, seed); };
  if (!options.peers.empty()) options.peers_python = find_peers_python(options.peers_python);
  BenchReport report = empty_report(flags);
  StatusLine line;
  report.models = bench_models(flags.models, options, [&](const std::string& file, int load, double share) {
    const std::string state = share == 0 ? "compiling" : fmt::format("{:.0f} %", 100 * share);
    line.say(fmt::format("load {} of {}, {}: {}", load + 1, options.loads, file, state));
  });
  line.finish();
  if (flags.common.json)
    print_json(to_json(report));
  else
    print_report(to_text(report));
  return std::ranges::all_of(report.models, &BenchedModel::agrees) ? kOk : kVerdict;
}

void add_load_flags(CLI::App& app, BenchOptions& options) {
  app.add_option("--runs", options.runs.runs, "Minimum number of measured runs per model")
      ->capture_default_str()
      ->transform(whole(1, 100000000))
      ->type_name("N");
  app.add_option("--seconds", options.runs.seconds, "Minimum measured time per model")
      ->capture_default_str()
      ->check(number(0, 86400))
      ->type_name("S");
  app.add_option("--loads", options.loads, "Number of fresh loads per model, over which runs and time are spread")
      ->capture_default_str()
      ->transform(whole(1, 1000))
      ->type_name("N");
  app.add_option("--batch", options.batch, "Batch size; more than 1: on raw tensors")
      ->capture_default_str()
      ->transform(whole(1, 65536))
      ->type_name("N");
  app.add_option("--streams", options.streams, "Concurrent inferences of one plan")
      ->capture_default_str()
      ->transform(whole(1, 1024))
      ->type_name("N");
  app.add_option("--seed", options.runs.seed, "Seed of the inputs and of the order of blocks")
      ->capture_default_str()
      ->transform(whole(std::uint64_t{0}))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--frame",
         [&options](const std::string& text) {
           options.frame = parsed("--frame", [&] { return parse_frame_size(text); });
         },
         "Frame size and format for recognised models (1280x720:i420)")
      ->type_name("WIDTHxHEIGHT:FORMAT");
  app.add_flag("--together", options.together, "Also run all models on one frame, as a pipeline does");
  app.add_flag("--tensors", options.tensors, "Run recognised models on raw tensors, without pre- and post-processing");
  app.add_flag("--resident", options.resident, "Run on tensors that stay on the device, in the types of --precision");
}

void add_peer_flags(CLI::App& app, BenchOptions& options) {
  const std::vector<std::string> engines(peer_engines().begin(), peer_engines().end());
  app.add_option("--against", options.peers, "Compare with these engines on raw tensors, alternating block by block")
      ->delimiter(',')
      ->check(CLI::IsMember(engines).description(""))
      ->type_name(fmt::format("{}", fmt::join(engines, ",")))
      ->allow_extra_args(false);
  app.add_option("--peers-python", options.peers_python,
                 "Their Python (default: $SACCADE_PEERS_PYTHON, else the one of script/bootstrap --peers)")
      ->type_name("PATH");
  app.add_option("--peers-model", options.peers_model, "The ONNX file for these engines if MODEL is a plan")
      ->type_name("FILE");
}

/// Rejects invalid combinations of flags.
void check(const BenchFlags& flags) {
  if (flags.models.empty() == flags.compare.empty())
    throw CLI::ValidationError("bench", "give either models or --compare A.json B.json");
  if (flags.options.streams > 1 && !flags.options.peers.empty())
    throw CLI::ValidationError("--against", "other engines run one stream: omit --streams");
  const BenchOptions& options = flags.options;
  if (!options.peers.empty() && options.peers_model.empty() && std::ranges::any_of(flags.models, is_plan_file))
    throw CLI::ValidationError("--against", "other engines can't read a plan: name its ONNX file with --peers-model");
  if (!options.peers_model.empty() && flags.models.size() > 1)
    throw CLI::ValidationError("--peers-model", "give one model");
  if (options.together &&
      (flags.models.size() < 2 || options.tensors || options.batch > 1 || !options.peers.empty() || options.resident))
    throw CLI::ValidationError("--together", "give at least two models, to be run on frames");
  const bool is_torch = std::ranges::any_of(options.peers, [](auto& peer) { return peer.starts_with("torch-"); });
  if (is_torch && flags.common.model.device.starts_with("cuda") && !options.resident)
    throw CLI::ValidationError("--against",
                               "torch keeps its tensors on the GPU: add --resident so that Saccade does, too");
}

}  // namespace

std::function<int()> add_bench(CLI::App& app) {
  const auto flags = std::make_shared<BenchFlags>();
  app.add_option("MODEL", flags->models, "ONNX files or plans");
  add_load_flags(app, flags->options);
  add_peer_flags(app, flags->options);
  app.add_option("--compare", flags->compare, "Compare two reports of bench --json; exit with 3 if B is slower")
      ->expected(2)
      ->type_name("A.json B.json");
  app.add_option("--tolerance", flags->tolerance, "Relative slowdown that --compare tolerates")
      ->capture_default_str()
      ->check(number(0, 10))
      ->type_name("X");
  flags->common.add_to(app, true);
  app.callback([flags] { check(*flags); });
  return [flags] { return bench(*flags); };
}

}  // namespace saccade::app
