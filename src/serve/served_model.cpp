#include "serve/served_model.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/model/model_impl.hpp"
#include "serve/batch_size.hpp"
#include "serve/tensor_json.hpp"

namespace saccade::serve {
namespace {

bool can_predict(const Model& model) {
  try {
    (void)model.task();
    return true;
  } catch (const Error& error) {  // not recognised, or its input is no image
    if (error.code() != ErrorCode::kUnsupported) throw;
    return false;
  }
}

/// The only one of DEVICES if it is a GPU. The host puts together images of several requests, and reads the sizes of
/// outputs.
std::optional<int> only_gpu(const Model& model, std::span<const Device> devices, std::size_t batch) {
  if (batch > 1 || devices.front().kind != Device::Kind::kCuda) return std::nullopt;
  if (!impl_of(model).tensor_plan()->graph().extents().empty()) return std::nullopt;
  const bool is_only = std::ranges::all_of(devices, [&](const Device& each) { return each == devices.front(); });
  return is_only ? std::optional(devices.front().ordinal) : std::nullopt;
}

std::shared_ptr<const Signature> make_signature(const Model& model, std::size_t batch, const TensorBatches* batches,
                                                std::optional<int> gpu) {
  struct Kept {
    Model model;  ///< has the tensors' names
    Signature signature;
  };
  const auto kept = std::make_shared<Kept>(Kept{model, {}});
  kept->signature = {.name = model.name(), .inputs = model.inputs(), .outputs = model.outputs(), .most_images = batch};
  kept->signature.gpu = gpu;
  if (batches != nullptr)
    for (const auto& at : batches->axes())
      kept->signature.image_axes.push_back(at ? std::optional(at->axis) : std::nullopt);
  return {kept, &kept->signature};
}

}  // namespace

ServedModel::Failures& ServedModel::Failures::operator+=(const Failures& more) {
  failed += more.failed;
  invalid += more.invalid;
  refused += more.refused;
  of_device = of_device || more.of_device;
  return *this;
}

/// Calls WORK for JOB, which fails with what it throws. If WORK returns false, JOB is refused.
template <typename Work>
ServedModel::Failures ServedModel::failures_of(Job& job, const Work& work) {
  const LogTraceScope scope(job.trace().for_log());
  const auto fail = [&](const Error& error) -> Failures {
    job.fail(error);
    if (is_of_request(error)) return {.invalid = 1};
    return {.failed = 1, .of_device = error.code() == ErrorCode::kDevice};
  };
  try {
    try {
      if (work()) return {};
      queue_->refuse_for_memory(job);
      return {.refused = 1};
    } catch (const Error& error) {
      return fail(error);
    } catch (const std::exception& error) {
      return fail(Error(ErrorCode::kInternal, error.what()));
    }
  } catch (const std::exception& error) {
    log(LogLevel::kWarning, "a request has no response: {}", error.what());
    return {.failed = 1};
  }
}

ServedModel::ServedModel(Model model, const ExecutionOptions& options, Workers& workers)
    : model_(std::move(model)), options_(options), predicts_(can_predict(model_)), workers_(workers) {
  for (const auto tensors : {model_.inputs(), model_.outputs()})
    for (const TensorInfo& tensor : tensors)
      if (datatype_of(tensor.dtype).empty())
        saccade::fail(ErrorCode::kUnsupported, "{} can't be served: '{}' is {}, which the protocol has not",
                      model_.name(), tensor.name, to_string(tensor.dtype));
  if (options_.batch == 0) options_.batch = fastest_batch(model_);
  if (options_.devices.empty()) options_.devices = {model_.options().device};
  std::vector<Device> used;
  for (const Device& device : options_.devices) {
    const Model there = device == model_.options().device ? model_ : impl_of(model_).on(device);
    used.push_back(there.options().device);
    for (std::size_t i = 0; i < options_.executions; ++i)
      executions_.push_back(std::make_unique<ModelExecution>(there, predicts_, options_.batch));
  }
  signature_ =
      make_signature(model_, options_.batch, executions_[0]->batches(), only_gpu(model_, used, options_.batch));
  queue_.emplace(JobQueue::Limits{.executions = executions_.size(),
                                  .places = options_.queue,
                                  .images = options_.batch,
                                  .frames = executions_[0]->most_frames(),
                                  .batch_wait = options_.batch_wait});
  for (const auto& execution : executions_) threads_.emplace_back([this, &execution] { execute(*execution); });
}

ServedModel::~ServedModel() { finish(); }

void ServedModel::finish() {
  queue_->end();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::unique_lock lock(mutex_);
  written_.wait(lock, [this] { return writing_ == 0; });
}

void ServedModel::submit(std::unique_ptr<Job> job, Preparation preparation) {
  QueuedJob queued{.job = std::move(job)};
  if (!queue_->reserve(*queued.job)) return;
  if (preparation == Preparation::kShort) {
    prepare(std::move(queued));
    return;
  }
  // A std::function has to be copyable.
  workers_.add([this, held = std::make_shared<QueuedJob>(std::move(queued))] { prepare(std::move(*held)); });
}

void ServedModel::prepare(QueuedJob job) {
  job.prepared_from = Clock::now();
  const Failures failures = failures_of(*job.job, [&] { return job.job->prepare(); });
  if (count(failures) == 0)
    queue_->add(std::move(job));
  else
    queue_->leave();  // not before: finish() waits for the response, too
}

void ServedModel::execute(ModelExecution& execution) {
  QueuedJobs batch;
  while (queue_->take(batch)) {
    const Clock::time_point start = Clock::now();
    const Failures failures = run(execution, batch, start);
    const Clock::time_point end = Clock::now();
    const std::size_t without_result = count(failures);
    for (const QueuedJob& job : batch)
      if (job.is_sent) count_run(end - job.arrived);
    queue_->end_run(without_result == 0 ? std::optional(end - start) : std::nullopt);
    if (!failures.of_device || options_.devices.size() == 1) continue;
    // What fails at once is always free, and would take the requests that another device could run.
    constexpr std::chrono::seconds kRest{1};
    batch.clear();
    queue_->rest(kRest);
  }
}

void ServedModel::count_execution(std::span<const QueuedJob> batch) {
  std::size_t images = 0;
  for (const QueuedJob& job : batch) images += images_of(job.job->input());
  const std::scoped_lock lock(mutex_);
  use_.add_execution(images);
}

void ServedModel::run_together(ModelExecution& execution, std::span<const QueuedJob> batch) {
  std::vector<TensorInput> tensors;
  std::vector<FrameView> frames;
  for (const QueuedJob& job : batch) {
    const JobInput input = job.job->input();
    if (const auto* given = std::get_if<TensorInput>(&input))
      tensors.push_back(*given);
    else
      frames.push_back(std::get<FrameView>(input));
  }
  if (frames.empty())
    execution.run(tensors);
  else
    execution.run(frames);
}

/// Adds to LATENCY, of a run that began at START, what came before: decoding is the capture.
void ServedModel::add_waits(Latency& latency, const QueuedJob& job, Clock::time_point start) {
  latency.capture = job.ready - job.prepared_from;
  latency.queue = (job.prepared_from - job.arrived) + (start - job.ready);
  latency.total = Clock::now() - job.arrived;
}

/// Runs BATCH together, and one by one if that fails: none fails for another.
ServedModel::Failures ServedModel::run(ModelExecution& execution, std::span<QueuedJob> batch, Clock::time_point start) {
  Failures failures;
  try {
    run_together(execution, batch);
  } catch (const std::exception&) {
    if (batch.size() == 1) return failures_of(*batch[0].job, []() -> bool { throw; });
    for (std::size_t i = 0; i < batch.size(); ++i) failures += run(execution, batch.subspan(i, 1), start);
    return failures;
  }
  count_execution(batch);
  const bool has_frames = std::holds_alternative<FrameView>(batch[0].job->input());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto response = Response::kNoMemory;
    failures += failures_of(*batch[i].job, [&] {
      Job& job = *batch[i].job;
      if (has_frames) {
        Result& result = execution.result(i);
        add_waits(result.latency, batch[i], start);
        response = job.respond(result);
      } else {
        response = job.respond(execution.outputs(i));
      }
      return response != Response::kNoMemory;
    });
    batch[i].is_sent = response == Response::kSent;
    if (response == Response::kUnwritten) write(std::move(batch[i]));
  }
  return failures;
}

/// Has a worker write the response of JOB.
void ServedModel::write(QueuedJob job) {
  {
    const std::scoped_lock lock(mutex_);
    ++writing_;
  }
  workers_.add([this, held = std::make_shared<QueuedJob>(std::move(job))] {
    const Failures failures = failures_of(*held->job, [&] {
      held->job->write();
      return true;
    });
    const Clock::time_point end = Clock::now();
    held->job.reset();
    if (count(failures) == 0) count_run(end - held->arrived);
    const std::scoped_lock lock(mutex_);
    --writing_;
    written_.notify_all();
  });
}

/// A request has its result after LATENCY.
void ServedModel::count_run(std::chrono::nanoseconds latency) {
  const std::scoped_lock lock(mutex_);
  ++use_.run;
  use_.latency.add(latency);
}

/// Adds FAILURES to the use and returns their number.
std::size_t ServedModel::count(const Failures& failures) {
  const std::scoped_lock lock(mutex_);
  use_.failed += failures.failed;
  use_.invalid += failures.invalid;
  use_.refused += failures.refused;
  return failures.failed + failures.invalid + failures.refused;
}

ModelUse ServedModel::use() const {
  ModelUse use = queue_->use();
  const std::scoped_lock lock(mutex_);
  return use += use_;
}

}  // namespace saccade::serve
