#include "pipeline/stream/pipeline_impl.hpp"

#include <algorithm>
#include <span>

#include "base/log.hpp"
#include "media/common_start.hpp"
#include "pipeline/stream/capacities.hpp"
#include "pipeline/stream/memory_shares.hpp"
#include "vision/tracking/object_tracker.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostFrames = 256;  // of a batch

/// Throws Error unless MODEL, a tracker of one object, has a target and a single source.
void check_tracker(const Model& model, std::size_t sources) {
  if (!model.options().target)
    fail(ErrorCode::kInvalidArgument,
         "{} follows one object: give its box in the first frame, --target X,Y,W,H in pixels", model.name());
  if (sources > 1)
    fail(ErrorCode::kInvalidArgument, "{} follows one object in one source, but there are {}: run it on each apart",
         model.name(), sources);
}

/// Throws Error unless DEVICES are named, each once.
void check_devices(std::span<const Device> devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind == Device::Kind::kAuto)
      fail(ErrorCode::kInvalidArgument, "'auto' is no device of a list: name each, as cuda:0 and cuda:1");
    if (std::ranges::count(devices, devices[i]) > 1)
      fail(ErrorCode::kInvalidArgument, "the device {} is there twice", to_string(devices[i]));
  }
}

/// Throws Error unless the arguments are valid.
void check_arguments(const std::vector<Source>& sources, const std::vector<Model>& models,
                     const PipelineOptions& options) {
  if (sources.empty()) fail(ErrorCode::kInvalidArgument, "a pipeline needs a source");
  if (models.empty()) fail(ErrorCode::kInvalidArgument, "a pipeline needs a model");
  if (options.every < 1) fail(ErrorCode::kInvalidArgument, "every must be at least 1, not {}", options.every);
  if (!(options.max_rate >= 0))
    fail(ErrorCode::kInvalidArgument, "a rate of {} frames per second is invalid", options.max_rate);
  for (const Source& source : sources)
    if (options.max_rate > 0 && !source.info().files.empty())
      fail(ErrorCode::kInvalidArgument, "{}: images have no frame rate to be limited: use --every", source.info().name);
  if (options.batch > kMostFrames)
    fail(ErrorCode::kInvalidArgument, "a batch of {} frames exceeds {}", options.batch, kMostFrames);
  if (options.batch_wait.count() < 0) fail(ErrorCode::kInvalidArgument, "frames can't wait for a negative time");
  if (options.max_frames < 0) fail(ErrorCode::kInvalidArgument, "a number of {} frames is invalid", options.max_frames);
  for (const Model& model : models)
    if (model.task() == Task::kTrack) check_tracker(model, sources.size());
  check_devices(options.devices);
}

/// The zones of a pipeline with these arguments, null without any. Throws Error if an argument is invalid.
std::unique_ptr<StreamZones> make_zones(const std::vector<Source>& sources, const std::vector<Model>& models,
                                        const PipelineOptions& options) {
  check_arguments(sources, models, options);
  if (options.zones.empty()) return nullptr;
  std::chrono::nanoseconds keep{};
  for (const Model& model : models)
    if (model.tracks()) keep = std::max(keep, model.options().post.tracker->keep);
  return std::make_unique<StreamZones>(options.zones, sources, models, keep);
}

/// Memory limit of the frames: that of the largest of MODELS, in bytes; 0: default_memory_limit().
std::size_t frames_memory(const std::vector<Model>& models) {
  std::size_t most = 0;
  for (const Model& model : models) {
    const std::size_t limit = impl_of(model).options().max_memory;
    if (limit == 0) return 0;
    most = std::max(most, limit);
  }
  return most;
}

/// For a sink or a model that is under way at the end.
constexpr std::chrono::seconds kPatience(5);

/// Memory limit of the frames within LIMIT, that of the pipeline. Throws Error (kUnsupported) if that is not enough.
std::size_t frames_memory(std::size_t limit, const DeviceWorkers& workers, std::span<const Source> sources,
                          const Capacities& capacities) {
  MemoryShares shares;
  for (const auto& worker : workers)
    for (std::size_t i = 0; i < worker->models.size(); ++i) shares.add_model(worker->models[i]);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto held = static_cast<std::size_t>(impl_of(sources[i]).reader().held_buffers());
    shares.add_frames(sources[i].info(), capacities.buffers(i) + held);
  }
  shares.add_results(workers.front()->models, capacities.runs());
  shares.check(limit);
  return shares.left_for_frames(limit);
}

/// MESSAGE with the source's NAME.
std::string naming(const std::string& name, const std::string& message) {
  return message.find(name) != std::string::npos ? message : fmt::format("{}: {}", name, message);
}

Clock::time_point after(Clock::time_point start, std::chrono::nanoseconds time) {
  return time >= Clock::time_point::max() - start ? Clock::time_point::max() : start + time;
}

bool is_any_live(std::span<const Source> sources) {
  return std::ranges::any_of(sources, [](const Source& source) { return source.info().live; });
}

std::vector<Capacities::Work> works_of(const DeviceWorkers& workers) {
  std::vector<Capacities::Work> works;
  for (const auto& worker : workers)
    works.push_back({worker->streams, worker->batch.images, worker->models.overlaps()});
  return works;
}

}  // namespace

std::vector<Pipeline::Impl::StreamPlace> Pipeline::Impl::places_of(const DeviceWorkers& workers, std::size_t streams) {
  std::vector<StreamPlace> places(streams);
  for (const auto& worker : workers)
    for (std::size_t lane = 0; lane < worker->streams.size(); ++lane)
      places[worker->streams[lane]] = {worker.get(), lane};
  return places;
}

Pipeline::Impl::Impl(std::vector<Source> sources, const std::vector<Model>& models, const PipelineOptions& options,
                     std::vector<PipelineSink> sinks)
    : sources_(std::move(sources)),
      zones_(make_zones(sources_, models, options)),
      workers_(make_workers(sources_, models, options)),
      places_(places_of(workers_, sources_.size())) {
  const Capacities capacities(sources_, sinks, options, works_of(workers_));
  const bool is_limited = options.max_memory > 0;
  const std::size_t max_memory =
      is_limited ? frames_memory(options.max_memory, workers_, sources_, capacities) : frames_memory(models);
  processed_.resize(sources_.size());
  for (Source& source : sources_) {
    impl_of(source).take();
    times_.emplace_back(live_period(source.info(), options));
  }
  for (const auto& worker : workers_) worker->warm_up(sources_);

  results_ = std::make_unique<BoundedQueue<FrameRunRef>>(capacities.results);
  runs_ = std::make_unique<FrameRunPool>(capacities.runs(), models.size());
  for (PipelineSink& sink : sinks)
    sinks_.push_back(std::make_unique<SinkRunner>(std::move(sink), !is_any_live(sources_)));

  start_ = last_telemetry_ = Clock::now();
  deadline_ = options.duration.count() > 0 ? after(start_, options.duration) : Clock::time_point::max();
  const Executor::Hooks hooks{.complete = [this](FrameRunRef run) { complete(std::move(run)); },
                              .lane_ended = [this](std::size_t lane) { results_->close(lane); },
                              .failed = [this] { results_->cancel(); }};
  for (const auto& worker : workers_) worker->prepare(sources_, capacities, *runs_, options, deadline_, hooks);
  std::vector<Stream::Place> places;
  for (std::size_t lane = 0; lane < sources_.size(); ++lane)
    places.push_back({.lane = places_[lane].lane,
                      .buffers = capacities.buffers(lane),
                      .max_frames = options.max_frames,
                      .selection = {.every = options.every,
                                    .max_rate = options.max_rate,
                                    .source_rate = sources_[lane].info().frame_rate},
                      .memory = &places_[lane].worker->models.frame_memory(),
                      .max_memory = max_memory,
                      .memory_flag = is_limited ? "--max-memory" : "--max-model-memory"});
  start_streams(places);
}

void Pipeline::Impl::start_streams(std::span<const Stream::Place> places) {
  const auto start = std::make_shared<CommonStart>();
  for (Source& source : sources_) impl_of(source).reader().begin_with(start);
  try {
    for (std::size_t i = 0; i < places.size(); ++i)
      streams_.push_back(std::make_unique<Stream>(impl_of(sources_[i]).reader(), *places_[i].worker->queue, places[i]));
  } catch (...) {
    end();  // frames of those that have started are in the queue
    throw;
  }
}

Outcome<Result&> Pipeline::Impl::next(std::chrono::nanoseconds timeout) {
  if (!current_ || returned_ == current_->done) {
    if (auto failure = fetch(timeout)) return std::move(*failure);
  } else if (stopped_) {
    end();
    return Failure{Status::kCancelled, {}};
  }
  FrameRun& run = *current_;
  if (returned_ == run.done) {
    const std::string message = failure_of(run);
    current_ = FrameRunRef();
    return Failure{Status::kFailed, message};
  }
  const std::size_t model = returned_++;
  if (sinks_.empty()) record(run, model);
  if (sinks_.empty() && returned_ == run.outputs.size()) count(run);
  return run.outputs[model].result;
}

/// Waits for the next run, or returns why there is none.
std::optional<Failure> Pipeline::Impl::fetch(std::chrono::nanoseconds timeout) {
  if (current_ && current_->fault) {
    // Its results have been returned, its failure has not.
    return std::nullopt;
  }
  current_ = FrameRunRef();
  returned_ = 0;
  const auto wanted = after(Clock::now(), timeout);
  for (const auto& worker : workers_) worker->executor->request();
  while (true) {
    if (Clock::now() >= deadline_) {
      end();
      return Failure{Status::kEnd, {}};
    }
    std::size_t lane = 0;
    switch (results_->pop(current_, lane, std::min(wanted, deadline_))) {
      case PopStatus::kItem: places_[lane].worker->executor->taken(); return std::nullopt;
      case PopStatus::kLaneClosed:
        if (const Stream& ended = *streams_[lane]; !ended.fault().empty())
          return Failure{Status::kLost, naming(ended.info().name, ended.fault())};
        break;
      case PopStatus::kClosed: end(); return Failure{Status::kEnd, {}};
      case PopStatus::kCancelled:
        end();
        check_executors();
        return Failure{Status::kCancelled, {}};
      case PopStatus::kTimeout:
        if (Clock::now() < deadline_) return Failure{Status::kTimeout, {}};
        break;
    }
  }
}

/// Throws what has ended the thread of a device, if one has.
void Pipeline::Impl::check_executors() {
  for (const auto& worker : workers_) worker->executor->check();
}

/// Passes RUN on to the sinks and to next(). On the thread of its device.
void Pipeline::Impl::complete(FrameRunRef run) {
  StreamLedger& ledger = streams_[run->lane]->ledger();
  if (run->fault) ledger.drop_failed();
  try {
    identify(*run);
    if (zones_) zones_->update(*run);
  } catch (...) {
    // It ends the pipeline, which has this run no more.
    if (!run->fault) ledger.drop_stopped();
    throw;
  }
  if (!sinks_.empty()) {
    for (std::size_t i = 0; i < run->done; ++i) record(*run, i);
    if (!run->fault) count(*run);
    for (const auto& sink : sinks_)
      if (sink->takes(run->lane)) sink->push(run);
    if (std::ranges::all_of(sinks_, [](const auto& sink) { return sink->has_ended(); })) {
      results_->cancel();
      for (const auto& worker : workers_) worker->queue->cancel();
    }
  }
  const std::size_t lane = run->lane;
  const std::optional<FrameRunRef> displaced = results_->push(lane, std::move(run));
  // A failure is counted already, and so is what the sinks have.
  if (displaced) warn_of_failure(**displaced);
  if (!displaced || (*displaced)->fault || !sinks_.empty()) return;
  stopped_ ? ledger.drop_stopped() : ledger.drop_queue_full();
}

/// The first of those that next() will not return.
void Pipeline::Impl::warn_of_failure(const FrameRun& run) {
  if (!run.fault || has_warned_.exchange(true)) return;
  log(LogLevel::kWarning, "{}; further frames that fail are only counted", failure_of(run));
}

std::string Pipeline::Impl::failure_of(const FrameRun& run) const {
  return fmt::format("{}, frame {}: {}", sources_[run.lane].info().name, run.frame.sequence, run.fault->message);
}

/// Sets the fields of results that only the pipeline knows.
void Pipeline::Impl::identify(FrameRun& run) const {
  const Frame& frame = run.frame;
  const auto capture_start = frame.captured - frame.capture_time;
  for (std::size_t i = 0; i < run.done; ++i) {
    FrameRun::Output& output = run.outputs[i];
    output.result.stream = static_cast<int>(run.lane);
    output.result.source = sources_[run.lane].info().name;
    output.result.captured_at = frame.captured_at;
    Latency& latency = output.result.latency;
    latency.sensor.reset();
    if (frame.exposed) latency.sensor = std::max<std::chrono::nanoseconds>(capture_start - *frame.exposed, {});
    latency.capture = frame.capture_time;
    latency.queue = run.fetched - frame.captured;
    latency.total = output.finished - capture_start + latency.sensor.value_or(std::chrono::nanoseconds(0));
  }
}

/// Counts a run whose results have all been passed on.
void Pipeline::Impl::count(const FrameRun& run) {
  streams_[run.lane]->ledger().process();
  model_runs_.fetch_add(1 / static_cast<double>(run.batch));
  times_[run.lane].finish_frame(run.outputs[run.done - 1].finished);
}

void Pipeline::Impl::record(const FrameRun& run, std::size_t model) {
  const Result& result = run.outputs[model].result;
  times_[run.lane].add(result.latency);
  if (result.invalid()) ++invalid_;
}

FrameTimes Pipeline::Impl::frame_times() const {
  const Frame& frame = current_->frame;
  const FrameRun::Output& output = current_->outputs[returned_ - 1];
  return {.capture_start = frame.captured - frame.capture_time,
          .captured = frame.captured,
          .requested = current_->requested,
          .fetched = current_->fetched,
          .started = output.started,
          .finished = output.finished};
}

void Pipeline::Impl::stop() noexcept {
  stopped_ = true;
  // The queues first: a cancelled reader closes its lane, which a waiting consumer would take for the source's end.
  results_->cancel();
  for (const auto& worker : workers_) {
    worker->queue->cancel();
    worker->executor->cancel();
  }
  for (const auto& each : streams_) each->cancel();
}

/// Stops the threads and counts the undelivered frames.
void Pipeline::Impl::end() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(ended_, true)) return;
    finish_ = Clock::now();
  }
  stop();
  // A sink that blocks must not keep the others open.
  const auto patient_until = Clock::now() + kPatience;
  if (!std::ranges::all_of(workers_, [&](const auto& worker) { return worker->executor->wait_until(patient_until); }))
    for (const auto& sink : sinks_) sink->end();
  for (const auto& worker : workers_) worker->executor->join();
  const auto drop = [this](const FrameRunRef& run) {
    warn_of_failure(*run);
    if (!run->fault && sinks_.empty()) streams_[run->lane]->ledger().drop_stopped();
  };
  for (const auto& worker : workers_) {
    for (const FrameBatch& unfinished : worker->executor->take_unfinished()) {
      // The device may still read its pixels.
      worker->models.wait();
      for (const FrameRunRef& run : unfinished.runs) {
        if (!run) continue;
        StreamLedger& ledger = streams_[run->lane]->ledger();
        run->fault ? ledger.drop_failed() : ledger.drop_stopped();
      }
    }
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    while (const auto run = results_->drain(i)) drop(*run);
    streams_[i]->join();
    while (places_[i].worker->queue->drain(places_[i].lane)) streams_[i]->ledger().drop_stopped();
  }
  if (sinks_.empty() && current_ && returned_ < current_->done) drop(current_);
}

Summary Pipeline::Impl::finish() {
  end();
  for (const auto& sink : sinks_) sink->end();
  // Those that are ready are completed first, so that one that blocks costs no other's end.
  const auto deadline = Clock::now() + kPatience;
  std::vector<SinkRunner*> blocked;
  for (const auto& sink : sinks_)
    if (!sink->wait_until(deadline)) blocked.push_back(sink.get());
  const Summary written = summary();
  for (const auto& sink : sinks_)
    if (std::ranges::find(blocked, sink.get()) == blocked.end()) sink->close(written);
  for (SinkRunner* sink : blocked) {
    log(LogLevel::kWarning, "{} still has results to write: waiting for it", sink->summary().name);
    sink->finish();
    sink->close(summary());
  }
  check_executors();
  return summary();
}

Telemetry Pipeline::Impl::telemetry() {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(last_telemetry_, now)).count();
  Telemetry telemetry{.elapsed = std::min(now, finish_) - start_, .streams = {}, .sinks = {}, .zones = {}};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& each = *streams_[i];
    StreamTelemetry stream{.source = each.info().name,
                           .state = each.state(),
                           .ledger = each.ledger().snapshot(),
                           .queued = places_[i].queued(),
                           .stages = {}};
    const std::int64_t before = std::exchange(processed_[i], stream.ledger.processed);
    if (seconds > 0) stream.rate = static_cast<double>(stream.ledger.processed - before) / seconds;
    stream.stages = times_[i].take_recent();
    telemetry.streams.push_back(std::move(stream));
  }
  for (const auto& sink : sinks_) telemetry.sinks.push_back(sink->telemetry());
  if (zones_) telemetry.zones = zones_->summaries();
  return telemetry;
}

Summary Pipeline::Impl::summary() {
  Summary summary;
  {
    const std::scoped_lock lock(mutex_);
    summary.elapsed = std::min(Clock::now(), finish_) - start_;
  }
  const auto all = std::make_unique<StageTimes>();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& each = *streams_[i];
    const std::unique_ptr<StageTimes> stages = times_[i].stages();
    summary.streams.push_back({.source = each.info().name,
                               .device = places_[i].worker->device,
                               .state = each.state(),
                               .queued = places_[i].queued(),
                               .ledger = each.ledger().snapshot(),
                               .fault = each.has_ended() ? each.fault() : std::string(),
                               .outages = each.outages(),
                               .faults = each.faults(),
                               .rate = times_[i].rate(),
                               .period = times_[i].period(),
                               .late = times_[i].late(),
                               .stages = stages->summarize()});
    summary.ledger += summary.streams.back().ledger;
    all->add(*stages);
  }
  ModelSet& models = workers_.front()->models;
  for (std::size_t i = 0; i < models.size(); ++i) summary.models.emplace_back(models[i].result().model);
  for (const auto& sink : sinks_) summary.sinks.push_back(sink->summary());
  if (zones_) summary.zones = zones_->summaries();
  const double seconds = std::chrono::duration<double>(summary.elapsed).count();
  summary.frames_per_second = seconds > 0 ? static_cast<double>(summary.ledger.processed) / seconds : 0;
  summary.invalid = invalid_;
  summary.stages = all->summarize();
  const auto devices = static_cast<double>(workers_.size());
  if (model_runs_ > 0) summary.batch = static_cast<double>(summary.ledger.processed) / model_runs_;
  const double models_in_turn = models.overlaps() ? 1 : static_cast<double>(models.size());
  summary.bottleneck = all->bottleneck(streams_.size(), models_in_turn / summary.batch / devices);
  return summary;
}

Pipeline::Pipeline(Source source, Model model, const PipelineOptions& options)
    : Pipeline(std::vector<Source>{std::move(source)}, std::vector<Model>{std::move(model)}, options) {}

Pipeline::Pipeline(std::vector<Source> sources, const std::vector<Model>& models, const PipelineOptions& options,
                   std::vector<PipelineSink> sinks)
    : impl_(std::make_unique<Impl>(std::move(sources), models, options, std::move(sinks))) {}

Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

Outcome<Result&> Pipeline::next(std::chrono::nanoseconds timeout) { return impl_->next(timeout); }

const FrameView& Pipeline::frame() const { return impl_->frame(); }

void Pipeline::stop() noexcept { impl_->stop(); }

Summary Pipeline::finish() { return impl_->finish(); }

Telemetry Pipeline::telemetry() { return impl_->telemetry(); }

Summary Pipeline::summary() const { return impl_->summary(); }

Pipeline::Iterator Pipeline::begin() { return Iterator(*this); }

void Pipeline::Iterator::advance() {
  Outcome<Result&> result = pipeline_->next();
  if (result) {
    result_ = &*result;
    return;
  }
  result_ = nullptr;
  const Failure& failure = result.failure();
  if (failure.status == Status::kLost) throw Error(ErrorCode::kDevice, failure.message);
  if (failure.status == Status::kFailed) throw Error(ErrorCode::kInvalidArgument, failure.message);
}

}  // namespace saccade
