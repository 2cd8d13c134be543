#include "measure/bench/bench.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/memory_budget.hpp"
#include "measure/bench/bench_inputs.hpp"
#include "measure/bench/bench_times.hpp"
#include "measure/bench/own_engine.hpp"
#include "measure/bench/process_memory.hpp"
#include "measure/bench/scene_inputs.hpp"
#include "measure/limits/frame_period.hpp"
#include "measure/peers/peer.hpp"
#include "measure/statistics/drift.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/model_impl.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

/// The model's plan for frames or tensors.
std::shared_ptr<const Plan> plan_for(const Model& model, bool takes_frames, const BenchOptions& options) {
  if (options.resident)
    return compile({.graph = impl_of(model).graph(),
                    .options = model.options(),
                    .measured = impl_of(model).measured(),
                    .packed = impl_of(model).packed(),
                    .edges = Edges::kAsComputed,
                    .keep_fp32 = impl_of(model).fp32_keep_list(PlanFor::kTensors, impl_of(model).graph())});
  return takes_frames ? impl_of(model).vision_plan(static_cast<std::size_t>(options.batch)).plan
                      : impl_of(model).tensor_plan();
}

/// A model, or several together, during the loads.
struct ModelRun {
  std::vector<std::string> files;  ///< several: all models on one frame
  BenchedModel benched;
  std::vector<Series> own;                 ///< one per load
  std::vector<std::vector<Series>> peers;  ///< as benched.peers
};

/// One load's share of the options for all of them.
InterleaveOptions share_of(const BenchOptions& options, int load) {
  const auto part = [&](int all) { return (all + options.loads - 1) / options.loads; };
  return {.runs = part(options.runs.runs),
          .seconds = options.runs.seconds / options.loads,
          .blocks = part(options.runs.blocks),
          .seed = options.runs.seed + static_cast<std::uint64_t>(load)};
}

/// The drift of a peer's outputs from OURS.
double drift_of(Peer& peer, const PeerFiles& files, std::span<const Tensor> ours) {
  const std::string prefix = files.folder() + "/" + peer.name();
  const auto other = peer.infer(files.other_inputs(), prefix + "_other_");
  const auto outputs = peer.infer(files.inputs(), prefix + "_");
  if (outputs.size() != ours.size())
    fail(ErrorCode::kInvalidFile, "it has {} outputs, ours has {}", outputs.size(), ours.size());
  double largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) largest = std::max(largest, drift(ours[i], outputs[i], other[i]));
  return largest;
}

/// A peer with the model loaded; null if it cannot run it, with the reason in RESULT. OURS are empty if its drift is
/// known already.
std::unique_ptr<Peer> start_peer(PeerTimes& result, const BenchedModel& benched, const BenchOptions& options,
                                 const PeerFiles& files, std::span<const Tensor> ours) {
  // Without the package nothing can be compared: an error, not a row.
  auto peer = std::make_unique<Peer>(result.times.engine, find_peers_python(options.peers_python), files.folder());
  result.times.version = peer->version();
  try {
    const Device& device = options.model.device;
    const std::string& file = options.peers_model.empty() ? benched.file : options.peers_model;
    std::error_code ignored;
    peer->load({.model = std::filesystem::absolute(file, ignored).string(),
                .threads = benched.threads,
                .device = device.kind == Device::Kind::kCuda ? to_string(device) : "cpu",
                .precision = benched.precision == "int8" ? "fp32" : benched.precision,
                .inputs = files.inputs()});
    if (!ours.empty()) result.drift = drift_of(*peer, files, ours);
    result.agrees = result.drift <= benched.drift_limit;
    return peer;
  } catch (const Error& error) {
    result.failure = error.what();
    return nullptr;
  }
}

/// Runs our engine and the peers in turn.
void measure(ModelRun& run, OwnEngine& own, std::span<const std::unique_ptr<Peer>> peers,
             const InterleaveOptions& options, const std::function<void(double share)>& progress) {
  std::vector<Contender*> contenders = {&own};
  for (const auto& peer : peers)
    if (peer) contenders.push_back(peer.get());
  std::vector<Series> series = interleave(contenders, options, progress);
  if (series[0].failure) throw *series[0].failure;
  run.own.push_back(std::move(series[0]));
  std::size_t next = 1;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (!peers[i]) continue;
    PeerTimes& result = run.benched.peers[i];
    Series& measured = series[next++];
    if (measured.failure) {
      result.failure = measured.failure->what();
      continue;
    }
    result.times.peak_bytes = std::max(result.times.peak_bytes, peers[i]->peak_bytes());
    run.peers[i].push_back(std::move(measured));
  }
}

void describe(BenchedModel& benched, const std::vector<Model>& models, const BenchOptions& options) {
  benched.precision = "fp32";
  for (const Model& model : models) {
    benched.name += (benched.name.empty() ? "" : " + ") + model.name();
    if (const std::string precision = precision_of(model); precision != "fp32") benched.precision = precision;
  }
  const bool is_half = benched.precision == "fp16" || benched.precision == "bf16";
  benched.drift_limit = is_half ? kLargestHalfDrift : benched.precision == "tf32" ? kLargestTf32Drift : kLargestDrift;
  benched.takes_frames = !options.tensors && !options.resident && options.peers.empty() &&
                         (options.batch == 1 || options.from_frames) &&
                         std::ranges::all_of(models, [](const Model& model) { return impl_of(model).is_recognised(); });
  if (models.size() > 1 && !benched.takes_frames)
    fail(ErrorCode::kUnsupported, "only recognised models can run together on a frame");
  if (options.from_frames && !benched.takes_frames)
    fail(ErrorCode::kUnsupported, "it is not recognised, so it can't run on frames");
  const std::string frames =
      options.batch == 1 ? std::string("one") : fmt::format("{} frames at once of", options.batch);
  benched.covers = benched.takes_frames ? fmt::format("{} {}{}, pixels to predictions", frames,
                                                      to_string(options.frame), options.batch == 1 ? " frame" : "")
                                        : fmt::format("raw tensors{}, model only, batch {}",
                                                      options.resident ? " on the device" : "", options.batch);
}

/// Generated tensors; images of the built-in scene if outputs are compared.
std::vector<Tensor> inputs_for(const Model& model, const BenchOptions& options, std::uint64_t seed) {
  std::vector<Tensor> inputs = options.draw(model, seed);
  if (!options.peers.empty()) draw_scene(model, seed, inputs);
  return inputs;
}

void measure_on_tensors(ModelRun& run, const Model& model, const std::shared_ptr<const Plan>& plan,
                        const BenchOptions& options, int load, const std::function<void(double share)>& progress) {
  const std::vector<Tensor> inputs = inputs_for(model, options, options.runs.seed);
  std::vector<std::unique_ptr<Peer>> peers;
  std::optional<PeerFiles> files;
  if (!options.peers.empty()) {
    files.emplace(model, inputs, inputs_for(model, options, options.runs.seed + 1000));
    const std::vector<Tensor> ours = load == 0 ? outputs_for(plan, inputs) : std::vector<Tensor>();
    for (PeerTimes& peer : run.benched.peers)
      peers.push_back(peer.failure.empty() ? start_peer(peer, run.benched, options, *files, ours) : nullptr);
  }
  OwnEngine own([&] { return on_tensors(plan, inputs, options.resident); }, options.streams);
  measure(run, own, peers, share_of(options, load), progress);
}

/// Each stream has an arena. Throws Error (kUnsupported) if they do not fit into memory.
void check_streams(const BenchOptions& options, std::size_t arena_bytes) {
  try {
    MemoryBudget(options.model.max_memory).check(arena_bytes * static_cast<std::size_t>(options.streams));
  } catch (const Error& error) {
    throw error.in(fmt::format("the memory of {} streams", options.streams));
  }
}

void measure_loaded(ModelRun& run, const std::vector<Model>& models, const BenchOptions& options, int load,
                    const std::function<void(double share)>& progress) {
  BenchedModel& benched = run.benched;
  benched.arena_bytes = 0;
  std::shared_ptr<const Plan> plan;
  for (const Model& model : models) {
    plan = plan_for(model, benched.takes_frames, options);
    benched.threads = plan->threads();
    benched.arena_bytes += plan->arena_bytes();
  }
  check_streams(options, benched.arena_bytes);
  if (!benched.takes_frames) return measure_on_tensors(run, models.front(), plan, options, load, progress);
  const NoiseFrame frame(options.frame, options.runs.seed);
  const auto batch = static_cast<std::size_t>(options.batch);
  OwnEngine own([&] { return on_frames(models, frame, batch); }, options.streams);
  measure(run, own, {}, share_of(options, load), progress);
}

void bench_load(ModelRun& run, const BenchOptions& options, int load, const BenchProgress& progress) {
  BenchedModel& benched = run.benched;
  const auto say = [&](double share) {
    if (progress) progress(benched.file, load, share);
  };
  say(0);
  benched.peak_is_own = reset_peak_memory() && benched.peak_is_own;
  std::vector<Model> models;
  for (const std::string& file : run.files)
    models.push_back(load_batched(file, options.model, options.from_frames ? 1 : options.batch));
  try {
    if (load == 0) describe(benched, models, options);
    measure_loaded(run, models, options, load, say);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(benched.file) != std::string_view::npos) throw;
    throw error.in(benched.file);
  }
  benched.own.peak_bytes = std::max(benched.own.peak_bytes, peak_memory());
}

BenchedModel finish(ModelRun& run, int batch) {
  BenchedModel& benched = run.benched;
  set_times(benched.own, run.own, batch);
  if (benched.takes_frames) benched.stages = stages_of(run.own);
  for (std::size_t i = 0; i < run.peers.size(); ++i) {
    PeerTimes& peer = benched.peers[i];
    if (!peer.failure.empty()) continue;
    set_times(peer.times, run.peers[i], batch);
    const std::vector<double> ours = flattened(benched.own.block_medians_ms);
    peer.ratio = paired_median_ratio({ours, flattened(peer.times.block_medians_ms)});
  }
  return std::move(benched);
}

ModelRun run_of(std::vector<std::string> files, const BenchOptions& options) {
  ModelRun run;
  run.benched.file = fmt::format("{}", fmt::join(files, " + "));
  run.benched.own.engine = "saccade";
  run.benched.own.version = version();
  run.benched.peers.resize(options.peers.size());
  for (std::size_t i = 0; i < options.peers.size(); ++i) run.benched.peers[i].times.engine = options.peers[i];
  run.peers.resize(options.peers.size());
  run.files = std::move(files);
  return run;
}

}  // namespace

std::vector<BenchedModel> bench_models(std::span<const std::string> files, const BenchOptions& options,
                                       const BenchProgress& progress) {
  if (!options.peers_model.empty()) check_input(options.peers_model);  // before a peer waits for it
  std::vector<ModelRun> runs;
  for (const std::string& file : files) runs.push_back(run_of({file}, options));
  if (options.together) runs.push_back(run_of({files.begin(), files.end()}, options));
  for (int load = 0; load < options.loads; ++load)
    for (ModelRun& run : runs) bench_load(run, options, load, progress);
  std::vector<BenchedModel> models;
  models.reserve(runs.size());
  for (ModelRun& run : runs) models.push_back(finish(run, options.batch));
  return models;
}

}  // namespace saccade
