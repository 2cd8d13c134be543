#include "serve/served_model.hpp"

#include <algorithm>
#include <iterator>

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

std::size_t images_of(const JobInput& input) {
  const auto* tensors = std::get_if<TensorInput>(&input);
  return tensors == nullptr ? 1 : tensors->images;
}

bool is_late(const Job& job, Clock::time_point now) { return job.deadline().value_or(now) < now; }

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
      refuse_for_memory(job);
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
  for (const auto& execution : executions_) threads_.emplace_back([this, &execution] { execute(*execution); });
  threads_.emplace_back([this] { watch_deadlines(); });
}

ServedModel::~ServedModel() { finish(); }

void ServedModel::finish() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  earlier_deadline_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return writing_ == 0; });
}

void ServedModel::submit(std::unique_ptr<Job> job, Preparation preparation) {
  Entry entry{.job = std::move(job), .arrived = Clock::now()};
  if (!reserve(*entry.job)) return;
  if (preparation == Preparation::kShort) {
    prepare(std::move(entry));
    return;
  }
  // A std::function has to be copyable.
  workers_.add([this, held = std::make_shared<Entry>(std::move(entry))] { prepare(std::move(*held)); });
}

/// Reserves a place in the queue; otherwise refuses JOB and returns false.
bool ServedModel::reserve(Job& job) {
  Refusal reason = Refusal::kFull;
  std::chrono::nanoseconds wait{};
  Entries hopeless;
  bool is_reserved = false;
  {
    const std::scoped_lock lock(mutex_);
    // An execution that is free takes what is ready at once.
    const std::size_t free = (executions_.size() - running_) * options_.batch;
    const auto has_place = [&] { return ready_.size() + preparing_ < options_.queue + free; };
    if (!has_place()) hopeless = take_hopeless();
    is_reserved = !is_ending_ && has_place();
    if (is_reserved) {
      ++preparing_;
    } else {
      if (is_ending_) reason = Refusal::kStopped;
      ++use_.refused;
      wait = expected_wait();
    }
  }
  refuse_hopeless(hopeless);
  if (!is_reserved) job.refuse(reason, wait);
  return is_reserved;
}

void ServedModel::prepare(Entry entry) {
  entry.prepared_from = Clock::now();
  const Failures failures = failures_of(*entry.job, [&] { return entry.job->prepare(); });
  const std::scoped_lock lock(mutex_);
  --preparing_;  // not before: finish() waits for the response, too
  if (count(failures) == 0) {
    entry.ready = Clock::now();
    const auto deadline = entry.job->deadline();
    ready_.push_back(std::move(entry));
    if (deadline && *deadline < watched_deadline_) earlier_deadline_.notify_one();
  }
  // Threads of executions wait for different things: for any entry, for one kind of input, for the end.
  changed_.notify_all();
}

void ServedModel::execute(ModelExecution& execution) {
  Entries batch;
  while (take(batch)) {
    refuse_hopeless(batch);
    if (batch.empty()) {
      const std::scoped_lock lock(mutex_);
      --running_;
      continue;
    }
    const Clock::time_point start = Clock::now();
    const Failures failures = run(execution, batch, start);
    const Clock::time_point end = Clock::now();
    std::unique_lock lock(mutex_);
    --running_;
    const std::size_t without_result = count(failures);
    for (const Entry& entry : batch)
      if (entry.is_sent) count_run(end - entry.arrived);
    if (failures.of_device && options_.devices.size() > 1) {
      // What fails at once is always free, and would take the requests that another device could run.
      constexpr std::chrono::seconds kRest{1};
      batch.clear();
      changed_.wait_for(lock, kRest, [this] { return is_ending_; });
    }
    if (without_result > 0) continue;
    constexpr int kMemory = 16;
    mean_run_ += (end - start - mean_run_) / (mean_run_.count() == 0 ? 1 : kMemory);
  }
}

bool ServedModel::take(Entries& batch) {
  batch.clear();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || (is_ending_ && preparing_ == 0); });
  if (ready_.empty()) return false;
  ++running_;
  Clock::time_point latest = ready_.front().ready + options_.batch_wait;
  const std::size_t kind = ready_.front().job->input().index();
  std::size_t room = kind == 0 ? options_.batch : executions_[0]->most_frames();
  do {
    const std::size_t known = batch.size();
    add_matching(batch, kind, room);
    for (const Entry& entry : std::span(batch).subspan(known)) latest = std::min(latest, latest_start(*entry.job));
  } while (room > 0 && !is_ending_ && changed_.wait_until(lock, latest) == std::cv_status::no_timeout);
  return true;
}

/// Moves entries with the KIND of input from the queue to BATCH, in order, as long as their images fit into ROOM.
void ServedModel::add_matching(Entries& batch, std::size_t kind, std::size_t& room) {
  for (auto each = ready_.begin(); each != ready_.end() && room > 0;) {
    const JobInput input = each->job->input();
    if (input.index() != kind) {
      ++each;
      continue;
    }
    const std::size_t images = images_of(input);
    if (images > room) break;
    room -= images;
    each->taken = Clock::now();
    batch.push_back(std::move(*each));
    each = ready_.erase(each);
  }
}

/// When JOB is to run to have its response by its deadline. Under the lock.
Clock::time_point ServedModel::latest_start(const Job& job) const {
  const auto deadline = job.deadline();
  if (!deadline) return Clock::time_point::max();
  constexpr std::chrono::milliseconds kMargin{1};
  return *deadline - mean_run_ - kMargin;
}

/// Refuses requests at their deadlines, also while all executions are busy.
void ServedModel::watch_deadlines() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    watched_deadline_ = Clock::time_point::max();
    for (const Entry& entry : ready_)
      watched_deadline_ = std::min(watched_deadline_, entry.job->deadline().value_or(watched_deadline_));
    if (watched_deadline_ == Clock::time_point::max())
      earlier_deadline_.wait(lock);
    else
      earlier_deadline_.wait_until(lock, watched_deadline_);
    Entries hopeless = take_hopeless();
    if (hopeless.empty()) continue;
    lock.unlock();
    refuse_hopeless(hopeless);
    hopeless.clear();
    lock.lock();
  }
}

/// Moves the entries that are late or whose clients have gone from the queue. Under the lock.
ServedModel::Entries ServedModel::take_hopeless() {
  const Clock::time_point now = Clock::now();
  const auto hopeless = std::stable_partition(ready_.begin(), ready_.end(), [&](const Entry& entry) {
    return !entry.job->is_cancelled() && !is_late(*entry.job, now);
  });
  Entries taken(std::make_move_iterator(hopeless), std::make_move_iterator(ready_.end()));
  ready_.erase(hopeless, ready_.end());
  // What was cancelled may be late by the time that it is refused, and no longer count as cancelled.
  for (Entry& entry : taken) entry.taken = Clock::time_point::max();
  return taken;
}

/// Takes the entries off BATCH that were late when they were taken from the queue, or whose clients have gone. Not
/// under the lock.
void ServedModel::refuse_hopeless(Entries& batch) {
  refuse_those(batch, Refusal::kCancelled, use_.cancelled,
               [](const Entry& entry) { return entry.job->is_cancelled(); });
  refuse_those(batch, Refusal::kLate, use_.refused,
               [](const Entry& entry) { return is_late(*entry.job, entry.taken); });
}

/// Refuses the entries of BATCH that are MEANT and adds their number to COUNT.
void ServedModel::refuse_those(Entries& batch, Refusal reason, std::uint64_t& count,
                               const std::function<bool(const Entry& entry)>& is_meant) {
  const auto refused =
      std::stable_partition(batch.begin(), batch.end(), [&](const Entry& entry) { return !is_meant(entry); });
  if (refused == batch.end()) return;
  std::chrono::nanoseconds wait{};
  {
    const std::scoped_lock lock(mutex_);
    count += static_cast<std::uint64_t>(batch.end() - refused);
    wait = expected_wait();
  }
  for (auto each = refused; each != batch.end(); ++each) each->job->refuse(reason, wait);
  batch.erase(refused, batch.end());
}

void ServedModel::count_execution(std::span<const Entry> batch) {
  std::size_t images = 0;
  for (const Entry& entry : batch) images += images_of(entry.job->input());
  const std::scoped_lock lock(mutex_);
  use_.add_execution(images);
}

void ServedModel::run_together(ModelExecution& execution, std::span<const Entry> batch) {
  std::vector<TensorInput> tensors;
  std::vector<FrameView> frames;
  for (const Entry& entry : batch) {
    const JobInput input = entry.job->input();
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
void ServedModel::add_waits(Latency& latency, const Entry& entry, Clock::time_point start) {
  latency.capture = entry.ready - entry.prepared_from;
  latency.queue = (entry.prepared_from - entry.arrived) + (start - entry.ready);
  latency.total = Clock::now() - entry.arrived;
}

/// Runs BATCH together, and one by one if that fails: none fails for another.
ServedModel::Failures ServedModel::run(ModelExecution& execution, std::span<Entry> batch, Clock::time_point start) {
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

/// Has a worker write the response of ENTRY.
void ServedModel::write(Entry entry) {
  {
    const std::scoped_lock lock(mutex_);
    ++writing_;
  }
  workers_.add([this, held = std::make_shared<Entry>(std::move(entry))] {
    const Failures failures = failures_of(*held->job, [&] {
      held->job->write();
      return true;
    });
    const Clock::time_point end = Clock::now();
    held->job.reset();
    const std::scoped_lock lock(mutex_);
    if (count(failures) == 0) count_run(end - held->arrived);
    --writing_;
    changed_.notify_all();
  });
}

/// A request has its result after LATENCY. Under the lock.
void ServedModel::count_run(std::chrono::nanoseconds latency) {
  ++use_.run;
  use_.latency.add(latency);
}

/// Adds FAILURES to the use and returns their number. Under the lock.
std::size_t ServedModel::count(const Failures& failures) {
  use_.failed += failures.failed;
  use_.invalid += failures.invalid;
  use_.refused += failures.refused;
  return failures.failed + failures.invalid + failures.refused;
}

void ServedModel::refuse_for_memory(Job& job) {
  std::unique_lock lock(mutex_);
  const std::chrono::nanoseconds wait = expected_wait();
  lock.unlock();
  job.refuse(Refusal::kFull, wait);
}

ModelUse ServedModel::use() const {
  const std::scoped_lock lock(mutex_);
  ModelUse use = use_;
  use.waiting = ready_.size() + preparing_;
  return use;
}

/// Of a request that came now, by the mean of the last runs.
std::chrono::nanoseconds ServedModel::expected_wait() const {
  const std::size_t at_once = options_.batch * executions_.size();
  return mean_run_ * static_cast<std::int64_t>((ready_.size() + preparing_) / at_once + 1);
}

}  // namespace saccade::serve
