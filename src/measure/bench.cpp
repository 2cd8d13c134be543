#include "measure/bench.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "measure/bench_inputs.hpp"
#include "measure/drift.hpp"
#include "measure/own_engine.hpp"
#include "measure/peer.hpp"
#include "measure/process_memory.hpp"
#include "pipeline/model_impl.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

constexpr int kFrameWidth = 1280;
constexpr int kFrameHeight = 720;

bool is_recognised(const Model& model) {
  try {
    model.impl()->card();
    return true;
  } catch (const Error&) {
    if (!model.options().card.empty()) throw;
    return false;
  }
}

/// The model's plan for what it is run on.
std::shared_ptr<const Plan> plan_for(const Model& model, bool takes_frames) {
  return takes_frames ? model.impl()->vision_plan().plan : model.impl()->tensor_plan();
}

EngineTimes times_of(const Series& series, int batch) {
  EngineTimes times;
  times.latency = distribution_of(series.latencies());
  times.block_medians_ms = series.medians_ms();
  times.median_ms = repeated_median(times.block_medians_ms);
  times.throughput = series.throughput() * batch;
  times.warm_up = series.warm_up;
  times.unmeasured = series.unmeasured;
  return times;
}

std::vector<StageSummary> stages_of(const Series& series) {
  std::vector<StageSummary> stages;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::chrono::nanoseconds> times;
    for (const Block& block : series.blocks) times.insert(times.end(), block.stages[i].begin(), block.stages[i].end());
    stages.push_back({std::string(to_string(static_cast<Stage>(i))), distribution_of(times)});
  }
  return stages;
}

/// A peer on its way, or why it is none any more.
struct PeerRun {
  std::unique_ptr<Peer> peer;
  PeerTimes result;
};

/// Starts a peer, has it load the model and compares its answers with OURS.
PeerRun start_peer(const std::string& engine, const std::string& file, int threads, const BenchOptions& options,
                   const PeerFiles& files, std::span<const Tensor> ours) {
  PeerRun run;
  run.result.times.engine = engine;
  // Without the package nothing can be compared: an error, not a row.
  run.peer = std::make_unique<Peer>(engine, find_peers_python(options.peers_python), files.folder());
  run.result.times.version = run.peer->version();
  try {
    run.peer->load(std::filesystem::absolute(file).string(), threads, files.inputs());
    const auto other = run.peer->answer(files.other_inputs(), files.folder() + "/" + engine + "_other_");
    const auto answer = run.peer->answer(files.inputs(), files.folder() + "/" + engine + "_");
    if (answer.size() != ours.size())
      fail(ErrorCode::kInvalidFile, "it has {} outputs, ours {}", answer.size(), ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
      run.result.drift = std::max(run.result.drift, drift(ours[i], answer[i], other[i]));
    run.result.agrees = run.result.drift <= kLargestDrift;
  } catch (const Error& error) {
    run.result.failure = error.what();
  }
  return run;
}

void finish_peer(PeerRun& run, const Series& series, const Series& own, int batch) {
  PeerTimes& result = run.result;
  if (series.failure) {
    result.failure = series.failure->what();
    return;
  }
  const std::string engine = result.times.engine;
  const std::string version = result.times.version;
  result.times = times_of(series, batch);
  result.times.engine = engine;
  result.times.version = version;
  result.times.peak_bytes = run.peer->peak_bytes();
  result.ratio = paired_median_ratio({own.medians_ms(), result.times.block_medians_ms});
}

/// Runs ours and the peers in turn; fills in the times.
void measure(BenchedModel& benched, OwnEngine& own, std::vector<PeerRun>& peers, const BenchOptions& options,
             const std::function<void(double share)>& progress) {
  std::vector<Contender*> contenders = {&own};
  for (PeerRun& run : peers)
    if (run.result.failure.empty()) contenders.push_back(run.peer.get());
  std::vector<Series> series = interleave(contenders, options.runs, progress);
  if (series[0].failure) throw *series[0].failure;
  benched.own = times_of(series[0], options.batch);
  if (benched.takes_frames) benched.stages = stages_of(series[0]);
  std::size_t next = 1;
  for (PeerRun& run : peers) {
    if (run.result.failure.empty()) finish_peer(run, series[next++], series[0], options.batch);
    benched.peers.push_back(std::move(run.result));
  }
}

BenchedModel bench_loaded(const std::string& file, const Model& model, const BenchOptions& options,
                          const std::function<void(double share)>& progress) {
  BenchedModel benched{.file = file, .name = model.name()};
  benched.precision = precision_of(model);
  benched.takes_frames = !options.tensors && options.peers.empty() && options.batch == 1 && is_recognised(model);
  const auto plan = plan_for(model, benched.takes_frames);
  benched.threads = plan->threads();
  benched.arena_bytes = plan->arena_bytes();
  const std::vector<Tensor> inputs = options.draw(model, options.runs.seed);
  std::vector<PeerRun> peers;
  std::optional<PeerFiles> files;
  if (!options.peers.empty()) {
    files.emplace(model, inputs, options.draw(model, options.runs.seed + 1000));
    const std::vector<Tensor> ours = Session(model).run(inputs);
    for (const std::string& engine : options.peers)
      peers.push_back(start_peer(engine, file, benched.threads, options, *files, ours));
  }
  if (benched.takes_frames) {
    const NoiseFrame frame({PixelFormat::kI420, kFrameWidth, kFrameHeight}, options.runs.seed);
    OwnEngine own([&] { return on_frames(model, frame); }, options.streams);
    benched.covers = fmt::format("one {}x{} I420 frame: pixels to answers", kFrameWidth, kFrameHeight);
    measure(benched, own, peers, options, progress);
  } else {
    OwnEngine own([&] { return on_tensors(plan, inputs); }, options.streams);
    benched.covers = fmt::format("raw tensors: the model alone, a batch of {}", options.batch);
    measure(benched, own, peers, options, progress);
  }
  benched.own.engine = "saccade";
  benched.own.version = version();
  benched.own.peak_bytes = peak_memory();
  return benched;
}

}  // namespace

const PeerTimes* BenchedModel::best_peer() const {
  const PeerTimes* best = nullptr;
  for (const PeerTimes& peer : peers)
    if (peer.failure.empty() && (best == nullptr || peer.times.median_ms.value < best->times.median_ms.value))
      best = &peer;
  return best;
}

bool BenchedModel::agrees() const {
  return std::ranges::all_of(peers, [](const PeerTimes& peer) { return !peer.failure.empty() || peer.agrees; });
}

BenchedModel bench_model(const std::string& file, const BenchOptions& options,
                         const std::function<void(double share)>& progress) {
  const bool is_reset = reset_peak_memory();
  const Model model = load_batched(file, options.model, options.batch);
  try {
    BenchedModel benched = bench_loaded(file, model, options, progress);
    benched.peak_is_own = is_reset;
    return benched;
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(file) != std::string_view::npos) throw;
    throw error.in(file);
  }
}

std::optional<Estimate> geometric_mean(std::span<const BenchedModel> models, std::string_view engine) {
  std::vector<BlockPair> pairs;
  for (const BenchedModel& model : models) {
    const PeerTimes* best = model.best_peer();
    for (const PeerTimes& peer : model.peers)
      if (peer.failure.empty() && (engine.empty() ? &peer == best : peer.times.engine == engine))
        pairs.push_back({model.own.block_medians_ms, peer.times.block_medians_ms});
  }
  if (pairs.empty()) return std::nullopt;
  return geometric_mean_ratio(pairs);
}

}  // namespace saccade
