#include <algorithm>

#include "measure/limits/gpu_ceilings.hpp"
#include "measure/limits/noise_frame.hpp"
#include "measure/limits/plan_times.hpp"
#include "measure/profile/profile.hpp"
#include "measure/profile/profile_assembly.hpp"
#include "media/looping_reader.hpp"
#include "pipeline/model/model_impl.hpp"
#include "pipeline/model/object_runner.hpp"
#include "pipeline/stream/source_impl.hpp"

namespace saccade {
namespace {

using namespace std::chrono_literals;

// Enough to warm caches, branch predictors and the frame pool; a video's first frames are often atypical.
constexpr std::int64_t kProfileWarmUp = 10;
// Larger traces open slowly in any viewer.
constexpr std::size_t kTraceEvents = 400'000;
// Frames recorded without a trace, for a report to show typical ones.
constexpr std::size_t kExamples = 64;
constexpr int kOverheadPairs = 5;

std::size_t trace_frames(const Plan& plan, const ProfileOptions& options) {
  const std::size_t fit = std::max<std::size_t>(kTraceEvents / (plan.steps().size() + 8), 1);
  const std::size_t wanted =
      options.trace ? static_cast<std::size_t>(std::max<std::int64_t>(options.frames, 1)) : kExamples;
  return std::min(fit, wanted);
}

Ceilings find_ceilings(const Model& model, const Plan& plan, const ProfileOptions& options) {
  if (options.ceilings != nullptr) return *options.ceilings;
  return measure_ceilings(model.options(), plan.threads(), options.on_ceilings);
}

/// Whether a profile that started at START and has so many frames needs another.
bool goes_on(const ProfileOptions& options, Clock::time_point start, std::int64_t frames) {
  if (frames >= options.frames) return false;
  if (options.duration.count() > 0 && Clock::now() - start >= options.duration) return false;
  return !options.on_frame || options.on_frame(frames);
}

/// The record of one run on a fixed input, without capture and queue.
FrameRecord still_record(std::int64_t frame, Clock::time_point start, Clock::time_point end,
                         const Execution& execution) {
  FrameRecord record{.frame = frame, .times = {start, start, start, start, start, end}};
  record.latency.pre = execution.stage_time(Stage::kPre);
  record.latency.model = execution.stage_time(Stage::kModel);
  record.latency.post = execution.stage_time(Stage::kPost);
  record.latency.total = end - start;
  return record;
}

Nanoseconds run_block(Execution& execution, Recorder& recorder, bool recorded, int runs) {
  const auto start = Clock::now();
  for (int i = 0; i < runs; ++i) {
    execution.time_steps(recorded ? recorder.next_steps() : std::span<StepTime>());
    const auto begin = Clock::now();
    execution.run();
    const auto end = Clock::now();
    if (recorded) recorder.add(still_record(i, begin, end, execution));
  }
  if (recorded) recorder.flush();
  return Nanoseconds(Clock::now() - start) / runs;
}

/// The time to record launches that do nothing.
Nanoseconds cost_per_event(const Plan& plan, std::size_t events) {
  constexpr int kFrames = 256;
  Recorder recorder(plan, 0);
  const auto start = Clock::now();
  for (int i = 0; i < kFrames; ++i) {
    for (StepTime& step : recorder.next_steps().first(events)) {
      step.start = Clock::now();
      step.end = Clock::now();
    }
    recorder.add({.times = {start, start, start, start, start, start}});
  }
  recorder.flush();
  return Nanoseconds(Clock::now() - start) / static_cast<double>(kFrames * std::max<std::size_t>(events, 1));
}

/// Frames per block: long compared with the clock's resolution, short compared with the machine's fluctuations, and for
/// short frames at least as many as the recorder processes in one batch, since their cost is spread over these.
int block_length(Nanoseconds frame) {
  constexpr Nanoseconds kShortFrame = 20ms;
  if (frame < kShortFrame) return static_cast<int>(std::clamp(kShortFrame / frame, double{Recorder::kBatch}, 1000.0));
  return static_cast<int>(std::max(10 * kShortFrame / frame, 1.0));
}

/// Runs EXECUTION in blocks with and without a recorder, on its current input.
Overhead measure_overhead(Execution& execution, std::chrono::nanoseconds budget) {
  const Plan& plan = execution.plan();
  const auto events = static_cast<std::size_t>(
      std::ranges::count_if(plan.steps(), [](const Step& step) { return step.launch != nullptr; }));
  Recorder recorder(plan, 0);
  run_block(execution, recorder, false, 2);
  const int runs = block_length(run_block(execution, recorder, false, 1));
  const BlockTimes times = run_in_turns([&](bool recorded) { return run_block(execution, recorder, recorded, runs); },
                                        budget, kOverheadPairs);
  execution.time_steps({});
  return overhead_of(times.with, times.without, static_cast<double>(events), cost_per_event(plan, events));
}

/// The size of SOURCE's frames, or a default if unknown: the overhead is measured before the first frame.
FrameSize size_of(const SourceInfo& source) {
  if (source.width <= 0) return {PixelFormat::kRgb24, 640, 480};
  return {PixelFormat::kRgb24, source.width, source.height};
}

/// The next result, or null at the end or if GO_ON returns false. Throws Error if a source or a model fails.
Result* next_result(Pipeline& pipeline, const std::function<bool()>& go_on) {
  // Short enough to call GO_ON while a source is silent.
  constexpr auto kPatience = 100ms;
  while (go_on()) {
    const Outcome<Result&> result = pipeline.next(kPatience);
    if (result) return &*result;
    const Failure& failure = result.failure();
    if (failure.status == Status::kTimeout) continue;
    if (failure.status == Status::kEnd || failure.status == Status::kCancelled) break;
    throw Error(failure.status == Status::kLost ? ErrorCode::kDevice : ErrorCode::kInvalidArgument, failure.message);
  }
  return nullptr;
}

FrameRecord record_of(const Result& result, const FrameTimes& times) {
  return {.stream = result.stream, .frame = result.frame, .times = times, .latency = result.latency};
}

/// Records a second model: the launches of the last crop of every frame that has one.
class SecondRecorder {
 public:
  explicit SecondRecorder(ObjectRunner& objects)
      : objects_(objects), recorder_(objects.runner().execution().plan(), 0) {}

  void begin() { objects_.runner().time_steps(recorder_.next_steps()); }
  void add(const FrameRecord& record) {
    ++frames_;
    crops_ += objects_.crops();
    if (objects_.crops() > 0) recorder_.add(record);
  }
  /// After assemble(). There are no launches if no frame had a crop.
  void report(Profile& profile) {
    recorder_.flush();
    const Execution& execution = objects_.runner().execution();
    const FrameView& crop = *execution.frame();
    profile.second =
        SecondProfile{.model = std::string(objects_.runner().result().model),
                      .plan = objects_.runner().plan(),
                      .crop = {crop.format, crop.width, crop.height},
                      .crops = static_cast<double>(crops_) / static_cast<double>(std::max<std::size_t>(frames_, 1))};
    if (recorder_.count() > 0) assemble_second(profile, recorder_);
  }

 private:
  ObjectRunner& objects_;
  Recorder recorder_;
  std::size_t frames_ = 0;
  std::size_t crops_ = 0;
};

/// Runs PIPELINE until OPTIONS are satisfied; sets the elapsed time and the frames' format.
FrameSize record_frames(Profile& profile, Pipeline& pipeline, Recorder& recorder, SecondRecorder* second,
                        const ProfileOptions& options) {
  impl_of(pipeline).run_one_by_one();
  for (std::int64_t i = 0; i < kProfileWarmUp; ++i)
    if (next_result(pipeline, [&] { return !options.on_frame || options.on_frame(0); }) == nullptr) break;
  FrameView last;
  const auto start = Clock::now();
  for (std::int64_t frames = 0;; ++frames) {
    impl_of(pipeline).time_steps(0, recorder.next_steps());
    if (second != nullptr) second->begin();
    const Result* result = next_result(pipeline, [&] { return goes_on(options, start, frames); });
    if (result == nullptr) break;
    last = pipeline.frame();
    const FrameRecord record = record_of(*result, impl_of(pipeline).frame_times());
    recorder.add(record);
    if (second != nullptr) second->add(record);
    if (options.sink != nullptr) options.sink->write(*result, last);
  }
  profile.elapsed = Clock::now() - start;
  recorder.flush();
  profile.frame = fmt::format("{}x{} {}", last.width, last.height, to_string(last.format));
  profile.tiles = impl_of(pipeline).runner(0).runs();
  if (profile.tiles > 1) profile.frame += fmt::format(", {} tiles", profile.tiles);
  const FrameView tile = impl_of(pipeline).runner(0).first_tile();
  profile.tile = {tile.format, tile.width, tile.height};
  return {last.format, last.width, last.height};
}

}  // namespace

Profile profile_frames(const Model& model, const std::string& uri, const ProfileOptions& options) {
  std::unique_ptr<FrameReader> reader = open_looping(uri);
  const VisionPlan& vision = impl_of(model).vision_plan();
  Profile profile{.model = model.name(),
                  .source = uri,
                  .plan = vision.plan,
                  .is_live = reader->info().live,
                  .warm_up = kProfileWarmUp};
  profile.ceilings = find_ceilings(model, *vision.plan, options);
  {
    Execution still(vision.plan);
    const NoiseFrame noise(size_of(reader->info()), 1);
    *still.frame() = noise.view();
    profile.overhead = measure_overhead(still, options.overhead_budget);
  }
  Recorder recorder(*vision.plan, trace_frames(*vision.plan, options));
  Pipeline pipeline(source_of(std::move(reader)), model);
  std::optional<SecondRecorder> second;
  if (ObjectRunner* objects = impl_of(pipeline).runner(0).objects()) second.emplace(*objects);
  const FrameSize size = record_frames(profile, pipeline, recorder, second ? &*second : nullptr, options);
  const Summary summary = pipeline.finish();
  if (options.sink != nullptr) options.sink->close(summary);
  if (recorder.count() == 0)
    fail(ErrorCode::kInvalidArgument, "{}: it ended before the first frame after {} warm-up frames", uri,
         kProfileWarmUp);
  assemble(profile, recorder, size);
  if (second) second->report(profile);
  return profile;
}

Profile profile_tensors(const Model& model, const ProfileOptions& options) {
  const std::shared_ptr<const Plan> plan = impl_of(model).tensor_plan();
  Profile profile{.model = model.name(), .plan = plan, .warm_up = kProfileWarmUp};
  Execution execution(plan);
  fill_inputs(execution);
  profile.ceilings = find_ceilings(model, *plan, options);
  profile.overhead = measure_overhead(execution, options.overhead_budget);
  Recorder recorder(*plan, trace_frames(*plan, options));
  for (std::int64_t i = 0; i < kProfileWarmUp; ++i) execution.run();
  const auto start = Clock::now();
  for (std::int64_t frame = 0; goes_on(options, start, frame); ++frame) {
    execution.time_steps(recorder.next_steps());
    const auto begin = Clock::now();
    execution.run();
    recorder.add(still_record(frame, begin, Clock::now(), execution));
  }
  profile.elapsed = Clock::now() - start;
  recorder.flush();
  assemble(profile, recorder, {});
  return profile;
}

}  // namespace saccade
