#include "pipeline/stream/pipeline_impl.hpp"

#include <algorithm>

namespace saccade {
namespace {

// Long enough to hide a slow frame of the decoder, short enough to keep few frames in memory.
constexpr std::size_t kFileQueue = 4;
constexpr std::size_t kLiveQueue = 1;

LaneOptions lane_of(const SourceInfo& source, const PipelineOptions& options) {
  LaneOptions lane{.policy = options.drop, .capacity = options.queue};
  if (lane.policy == DropPolicy::kAuto) lane.policy = source.live ? DropPolicy::kOldest : DropPolicy::kWait;
  if (lane.capacity == 0) lane.capacity = source.live ? kLiveQueue : kFileQueue;
  return lane;
}

/// The period of a live source's frames that OPTIONS select; 0: unknown, or it is not live.
std::chrono::nanoseconds live_period(const SourceInfo& source, const PipelineOptions& options) {
  if (!source.live || source.frame_rate <= 0) return {};
  double seconds = static_cast<double>(options.every) / source.frame_rate;
  if (options.max_rate > 0) seconds = std::max(seconds, 1 / options.max_rate);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

/// Throws Error unless MODEL, a tracker of one object, has a target and a single source.
void check_tracker(const Model& model, std::size_t sources) {
  if (!model.options().target)
    fail(ErrorCode::kInvalidArgument,
         "{} follows one object: give its box in the first frame, --target X,Y,W,H in pixels", model.name());
  if (sources > 1)
    fail(ErrorCode::kInvalidArgument, "{} follows one object in one source, but there are {}: run it on each apart",
         model.name(), sources);
}

/// MODELS, after validation of the arguments.
const std::vector<Model>& checked(const std::vector<Source>& sources, const std::vector<Model>& models,
                                  const PipelineOptions& options) {
  if (sources.empty()) fail(ErrorCode::kInvalidArgument, "a pipeline needs a source");
  if (models.empty()) fail(ErrorCode::kInvalidArgument, "a pipeline needs a model");
  if (options.every < 1) fail(ErrorCode::kInvalidArgument, "every must be at least 1, not {}", options.every);
  if (!(options.max_rate >= 0))
    fail(ErrorCode::kInvalidArgument, "a rate of {} frames per second is invalid", options.max_rate);
  for (const Source& source : sources)
    if (options.max_rate > 0 && !source.info().files.empty())
      fail(ErrorCode::kInvalidArgument, "{}: images have no frame rate to be limited: use --every", source.info().name);
  if (options.max_frames < 0) fail(ErrorCode::kInvalidArgument, "a number of {} frames is invalid", options.max_frames);
  for (const Model& model : models)
    if (model.task() == Task::kTrack) check_tracker(model, sources.size());
  return models;
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

/// MESSAGE with the source's NAME.
std::string naming(const std::string& name, const std::string& message) {
  return message.find(name) != std::string::npos ? message : fmt::format("{}: {}", name, message);
}

Clock::time_point after(Clock::time_point start, std::chrono::nanoseconds time) {
  return time >= Clock::time_point::max() - start ? Clock::time_point::max() : start + time;
}

}  // namespace

Pipeline::Impl::Impl(std::vector<Source> sources, const std::vector<Model>& models, const PipelineOptions& options)
    : sources_(std::move(sources)), options_(options), models_(checked(sources_, models, options)) {
  turn_ = models_.size();
  for (Source& source : sources_) impl_of(source).take();

  // A live source may deliver a newer frame while the models run.
  runs_ahead_ =
      models_.overlaps() && std::ranges::none_of(sources_, [](const Source& source) { return source.info().live; });
  processed_.resize(sources_.size());
  times_.reserve(sources_.size());
  std::vector<LaneOptions> lanes;
  for (const Source& source : sources_) {
    lanes.push_back(lane_of(source.info(), options));
    times_.emplace_back(live_period(source.info(), options));
  }
  queue_ = std::make_unique<BoundedQueue<Frame>>(lanes);
  start_ = last_telemetry_ = Clock::now();
  deadline_ = options.duration.count() > 0 ? after(start_, options.duration) : Clock::time_point::max();
  for (Source& source : sources_)
    // Frames in the queue, in capture and in the models.
    streams_.push_back(
        std::make_unique<Stream>(impl_of(source).reader(), *queue_,
                                 Stream::Place{.lane = streams_.size(),
                                               .buffers = lanes[streams_.size()].capacity + (runs_ahead_ ? 3 : 2),
                                               .max_frames = options.max_frames,
                                               .selection = {.every = options.every,
                                                             .max_rate = options.max_rate,
                                                             .source_rate = source.info().frame_rate},
                                               .memory = &models_.frame_memory(),
                                               .max_memory = frames_memory(models)}));
}

Outcome<Result&> Pipeline::Impl::next(std::chrono::nanoseconds timeout) {
  if (turn_ == models_.size()) {
    release_frame();
    if (auto failure = fetch(timeout)) return std::move(*failure);
  } else if (stopped_) {
    return Failure{Status::kCancelled, {}};
  }
  return run_model();
}

/// Waits for the next frame, or returns why there is none.
std::optional<Failure> Pipeline::Impl::fetch(std::chrono::nanoseconds timeout) {
  const auto now = Clock::now();
  if (!is_requesting_) requested_ = now;  // continues a wait that timed out
  is_requesting_ = true;
  if (ahead_ && !stopped_ && now < deadline_) {
    current_ = *std::exchange(ahead_, std::nullopt);
    begin_frame();
    return std::nullopt;
  }
  const auto wanted = after(now, timeout);
  while (true) {
    if (Clock::now() >= deadline_) {
      end();
      return Failure{Status::kEnd, {}};
    }
    switch (queue_->pop(current_.frame, current_.lane, std::min(wanted, deadline_))) {
      case PopStatus::kItem:
        current_.requested = requested_;
        current_.at = Clock::now();
        models_.begin(current_.frame.view);
        begin_frame();
        return std::nullopt;
      case PopStatus::kLaneClosed:
        if (!stream().fault().empty()) return Failure{Status::kLost, naming(stream().info().name, stream().fault())};
        break;
      case PopStatus::kClosed: end(); return Failure{Status::kEnd, {}};
      case PopStatus::kCancelled: end(); return Failure{Status::kCancelled, {}};
      case PopStatus::kTimeout:
        if (Clock::now() < deadline_) return Failure{Status::kTimeout, {}};
        break;
    }
  }
}

void Pipeline::Impl::begin_frame() {
  turn_ = 0;
  is_requesting_ = false;
  finished_ = current_.at;
}

/// Starts the models on the next frame, if available, before the last one's results are read.
void Pipeline::Impl::look_ahead() {
  if (!runs_ahead_ || !models_.is_ready()) return;
  Fetched next;
  if (!queue_->try_pop(next.frame, next.lane)) return;
  next.requested = next.at = Clock::now();
  models_.begin(next.frame.view);
  ahead_ = std::move(next);
}

Outcome<Result&> Pipeline::Impl::run_model() {
  const std::size_t model = turn_++;
  started_ = finished_;
  try {
    if (model == 0) {
      models_.wait();
      look_ahead();
    }
    models_.run(model, current_.frame);
  } catch (const Error& error) {
    turn_ = models_.size();
    stream().ledger().drop_failed();
    return Failure{Status::kFailed, fmt::format("{}, frame {}: {}", stream().info().name, current_.frame.sequence,
                                                error.in(std::string(models_[model].result().model)).what())};
  }
  finished_ = Clock::now();
  Result& result = models_[model].result();
  complete(result);
  record(result);
  if (turn_ == models_.size()) {
    stream().ledger().process();
    times_[current_.lane].finish_frame(finished_);
  }
  return result;
}

/// Sets the fields of a result that only the pipeline knows.
void Pipeline::Impl::complete(Result& result) const {
  const Frame& frame = current_.frame;
  result.stream = static_cast<int>(current_.lane);
  result.source = sources_[current_.lane].info().name;
  result.latency.capture = frame.capture_time;
  result.latency.queue = current_.at - frame.captured;
  result.latency.total = finished_ - frame.captured + frame.capture_time;
}

void Pipeline::Impl::record(const Result& result) noexcept {
  times_[current_.lane].add(result.latency);
  if (result.invalid()) ++invalid_;
}

FrameTimes Pipeline::Impl::frame_times() const {
  const Frame& frame = current_.frame;
  return {.capture_start = frame.captured - frame.capture_time,
          .captured = frame.captured,
          .requested = current_.requested,
          .fetched = current_.at,
          .started = started_,
          .finished = finished_};
}

/// Releases the frame before waiting for the next one, so that its source can reuse it.
void Pipeline::Impl::release_frame() { current_.frame.lease = FrameLease(); }

void Pipeline::Impl::stop() noexcept {
  stopped_ = true;
  // The queue first: a cancelled reader closes its lane, which a waiting consumer would take for the source's end.
  queue_->cancel();
  for (const auto& each : streams_) each->cancel();
}

/// Drops the frame that was started ahead, after the models are done with its pixels.
void Pipeline::Impl::drop_ahead() {
  models_.wait();
  if (ahead_) streams_[ahead_->lane]->ledger().drop_stopped();
  ahead_.reset();
}

/// Stops the readers and counts the undelivered frames.
void Pipeline::Impl::end() {
  if (ended_) return;
  ended_ = true;
  stop();
  finish_ = Clock::now();
  if (turn_ < models_.size()) stream().ledger().drop_stopped();
  turn_ = models_.size();
  drop_ahead();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    streams_[i]->join();
    while (queue_->drain(i)) streams_[i]->ledger().drop_stopped();
  }
}

Telemetry Pipeline::Impl::telemetry() {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(last_telemetry_, now)).count();
  Telemetry telemetry{.elapsed = std::min(now, finish_) - start_, .streams = {}};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& each = *streams_[i];
    StreamTelemetry stream{
        .source = each.info().name, .ledger = each.ledger().snapshot(), .queued = queue_->size(i), .stages = {}};
    if (each.has_ended()) stream.state = each.fault().empty() ? StreamState::kEnded : StreamState::kLost;
    const std::int64_t before = std::exchange(processed_[i], stream.ledger.processed);
    if (seconds > 0) stream.rate = static_cast<double>(stream.ledger.processed - before) / seconds;
    stream.stages = times_[i].take_recent();
    telemetry.streams.push_back(std::move(stream));
  }
  return telemetry;
}

Summary Pipeline::Impl::summary() {
  if (stopped_) end();
  Summary summary;
  summary.elapsed = std::min(Clock::now(), finish_) - start_;
  StageTimes all;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& each = *streams_[i];
    summary.streams.push_back({.source = each.info().name,
                               .ledger = each.ledger().snapshot(),
                               .fault = ended_ ? each.fault() : std::string(),
                               .rate = times_[i].rate(),
                               .period = times_[i].period(),
                               .late = times_[i].late(),
                               .stages = times_[i].stages().summarize()});
    summary.ledger += summary.streams.back().ledger;
    all.add(times_[i].stages());
  }
  for (std::size_t i = 0; i < models_.size(); ++i) summary.models.emplace_back(models_[i].result().model);
  const double seconds = std::chrono::duration<double>(summary.elapsed).count();
  summary.frames_per_second = seconds > 0 ? static_cast<double>(summary.ledger.processed) / seconds : 0;
  summary.invalid = invalid_;
  summary.stages = all.summarize();
  summary.bottleneck = all.bottleneck(streams_.size(), models_.overlaps() ? 1 : models_.size());
  return summary;
}

Pipeline::Pipeline(Source source, Model model, const PipelineOptions& options)
    : Pipeline(std::vector<Source>{std::move(source)}, std::vector<Model>{std::move(model)}, options) {}

Pipeline::Pipeline(std::vector<Source> sources, const std::vector<Model>& models, const PipelineOptions& options)
    : impl_(std::make_unique<Impl>(std::move(sources), models, options)) {}

Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

Outcome<Result&> Pipeline::next(std::chrono::nanoseconds timeout) { return impl_->next(timeout); }

const FrameView& Pipeline::frame() const { return impl_->frame(); }

void Pipeline::stop() noexcept { impl_->stop(); }

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
