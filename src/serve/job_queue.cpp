#include "serve/job_queue.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace saccade::serve {
namespace {

bool is_late(const Job& job, Clock::time_point now) { return job.deadline().value_or(now) < now; }

}  // namespace

JobQueue::JobQueue(const Limits& limits) : limits_(limits), deadlines_([this] { watch_deadlines(); }) {}

JobQueue::~JobQueue() {
  end();
  deadlines_.join();
}

void JobQueue::end() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  earlier_deadline_.notify_all();
}

bool JobQueue::reserve(Job& job) {
  Refusal reason = Refusal::kFull;
  std::chrono::nanoseconds wait{};
  QueuedJobs hopeless;
  bool is_reserved = false;
  {
    const std::scoped_lock lock(mutex_);
    // An execution that is free takes what is ready at once.
    const std::size_t free = (limits_.executions - running_) * limits_.images;
    const auto has_place = [&] { return ready_.size() + preparing_ < limits_.places + free; };
    if (!has_place()) hopeless = search_hopeless();
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

void JobQueue::add(QueuedJob job) {
  const std::scoped_lock lock(mutex_);
  --preparing_;
  job.ready = Clock::now();
  const auto deadline = job.job->deadline();
  ready_.push_back(std::move(job));
  if (deadline && *deadline < watched_deadline_) earlier_deadline_.notify_one();
  // Threads of executions wait for different things: for any job, for one kind of input, for the end.
  changed_.notify_all();
}

void JobQueue::leave() {
  const std::scoped_lock lock(mutex_);
  --preparing_;
  changed_.notify_all();
}

bool JobQueue::take(QueuedJobs& batch) {
  for (;;) {
    batch.clear();
    if (!fill(batch)) return false;
    refuse_hopeless(batch);
    if (!batch.empty()) return true;
    end_run(std::nullopt);
  }
}

/// Begins a run of BATCH. False: the queue has ended.
bool JobQueue::fill(QueuedJobs& batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || (is_ending_ && preparing_ == 0); });
  if (ready_.empty()) return false;
  ++running_;
  Clock::time_point latest = ready_.front().ready + limits_.batch_wait;
  const std::size_t kind = ready_.front().job->input().index();
  std::size_t room = kind == 0 ? limits_.images : limits_.frames;
  do {
    const std::size_t known = batch.size();
    add_matching(batch, kind, room);
    for (const QueuedJob& job : std::span(batch).subspan(known)) latest = std::min(latest, latest_start(*job.job));
  } while (room > 0 && !is_ending_ && changed_.wait_until(lock, latest) == std::cv_status::no_timeout);
  return true;
}

/// Moves jobs with the KIND of input from the queue to BATCH, in order, as long as their images fit into ROOM.
void JobQueue::add_matching(QueuedJobs& batch, std::size_t kind, std::size_t& room) {
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
Clock::time_point JobQueue::latest_start(const Job& job) const {
  const auto deadline = job.deadline();
  if (!deadline) return Clock::time_point::max();
  constexpr std::chrono::milliseconds kMargin{1};
  return *deadline - mean_run_ - kMargin;
}

void JobQueue::end_run(std::optional<std::chrono::nanoseconds> duration) {
  const std::scoped_lock lock(mutex_);
  --running_;
  constexpr int kMemory = 16;
  if (duration) mean_run_ += (*duration - mean_run_) / (mean_run_.count() == 0 ? 1 : kMemory);
}

void JobQueue::rest(std::chrono::nanoseconds pause) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, pause, [this] { return is_ending_; });
}

/// Refuses jobs at their deadlines, also while all executions are busy.
void JobQueue::watch_deadlines() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    watched_deadline_ = Clock::time_point::max();
    for (const QueuedJob& job : ready_)
      watched_deadline_ = std::min(watched_deadline_, job.job->deadline().value_or(watched_deadline_));
    if (watched_deadline_ == Clock::time_point::max())
      earlier_deadline_.wait(lock);
    else
      earlier_deadline_.wait_until(lock, watched_deadline_);
    QueuedJobs hopeless = take_hopeless();
    if (hopeless.empty()) continue;
    lock.unlock();
    refuse_hopeless(hopeless);
    hopeless.clear();
    lock.lock();
  }
}

/// Moves the jobs that are late or whose clients have gone from the queue. Under the lock.
QueuedJobs JobQueue::take_hopeless() {
  const Clock::time_point now = Clock::now();
  const auto hopeless = std::stable_partition(ready_.begin(), ready_.end(), [&](const QueuedJob& job) {
    return !job.job->is_cancelled() && !is_late(*job.job, now);
  });
  QueuedJobs taken(std::make_move_iterator(hopeless), std::make_move_iterator(ready_.end()));
  ready_.erase(hopeless, ready_.end());
  // What was cancelled may be late by the time that it is refused, and no longer count as cancelled.
  for (QueuedJob& job : taken) job.taken = Clock::time_point::max();
  return taken;
}

/// The same, for a place. Each job asks the kernel about its client: under a flood of requests, that takes a tenth of
/// the time at most, and places are free so much later.
QueuedJobs JobQueue::search_hopeless() {
  constexpr int kShare = 10;
  const Clock::time_point begin = Clock::now();
  if (begin < next_search_) return {};
  QueuedJobs taken = take_hopeless();
  const Clock::time_point end = Clock::now();
  next_search_ = end + (kShare - 1) * (end - begin);
  return taken;
}

/// Takes the jobs off BATCH that were late when they were taken from the queue, or whose clients have gone, and refuses
/// them. Not under the lock.
void JobQueue::refuse_hopeless(QueuedJobs& batch) {
  refuse_those(batch, Refusal::kCancelled, use_.cancelled,
               [](const QueuedJob& job) { return job.job->is_cancelled(); });
  refuse_those(batch, Refusal::kLate, use_.refused, [](const QueuedJob& job) { return is_late(*job.job, job.taken); });
}

/// Refuses the jobs of BATCH that are MEANT and adds their number to COUNT.
void JobQueue::refuse_those(QueuedJobs& batch, Refusal reason, std::uint64_t& count,
                            const std::function<bool(const QueuedJob& job)>& is_meant) {
  const auto refused =
      std::stable_partition(batch.begin(), batch.end(), [&](const QueuedJob& job) { return !is_meant(job); });
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

void JobQueue::refuse_for_memory(Job& job) {
  std::unique_lock lock(mutex_);
  const std::chrono::nanoseconds wait = expected_wait();
  lock.unlock();
  job.refuse(Refusal::kFull, wait);
}

ModelUse JobQueue::use() const {
  const std::scoped_lock lock(mutex_);
  ModelUse use = use_;
  use.waiting = ready_.size() + preparing_;
  return use;
}

/// Of a job that came now, by the mean of the last runs. Under the lock.
std::chrono::nanoseconds JobQueue::expected_wait() const {
  const std::size_t at_once = limits_.images * limits_.executions;
  return mean_run_ * static_cast<std::int64_t>((ready_.size() + preparing_) / at_once + 1);
}

}  // namespace saccade::serve
