#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "serve/job.hpp"
#include "serve/serve_state.hpp"

namespace saccade::serve {

/// A job of a model, and when it got how far.
struct QueuedJob {
  std::unique_ptr<Job> job;
  Clock::time_point arrived = Clock::now();
  Clock::time_point prepared_from = {};
  Clock::time_point ready = {};
  Clock::time_point taken = {};  ///< from the queue
  bool is_sent = false;
};
using QueuedJobs = std::vector<QueuedJob>;

/// The jobs that wait for the executions of a model, in the order in which they are ready. Refuses those for which
/// there is no place, that are late, and whose clients have gone. Any thread.
class JobQueue {
 public:
  struct Limits {
    std::size_t executions = 1;             ///< at a time
    std::size_t places = 64;                ///< for jobs that wait
    std::size_t images = 1;                 ///< of an execution on tensors
    std::size_t frames = 1;                 ///< of an execution on frames
    std::chrono::nanoseconds batch_wait{};  ///< the longest that a job waits for others
  };

  explicit JobQueue(const Limits& limits);
  /// As end().
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  /// Reserves a place for JOB, which is to be prepared: add() or leave() follows. Otherwise refuses it, and returns
  /// false.
  bool reserve(Job& job);
  /// The job has a place, and is prepared.
  void add(QueuedJob job);
  /// A job that had a place has its response.
  void leave();

  /// Waits for jobs that can run together, and sets BATCH to them: end_run() follows. False: the queue has ended, and
  /// is empty.
  bool take(QueuedJobs& batch);
  /// All jobs of a run that took DURATION have their results; nullopt: some have not, and the time tells nothing.
  void end_run(std::optional<std::chrono::nanoseconds> duration);
  /// Returns after PAUSE, or at the end.
  void rest(std::chrono::nanoseconds pause);

  /// Refuses JOB, for which there is no memory.
  void refuse_for_memory(Job& job);
  /// Has refused, cancelled and waiting jobs.
  ModelUse use() const;
  /// Refuses jobs that come from now on. What has a place is still taken.
  void end();

 private:
  bool fill(QueuedJobs& batch);
  void add_matching(QueuedJobs& batch, std::size_t kind, std::size_t& room);
  Clock::time_point latest_start(const Job& job) const;
  void watch_deadlines();
  QueuedJobs take_hopeless();
  QueuedJobs search_hopeless();
  void refuse_hopeless(QueuedJobs& batch);
  void refuse_those(QueuedJobs& batch, Refusal reason, std::uint64_t& count,
                    const std::function<bool(const QueuedJob& job)>& is_meant);
  std::chrono::nanoseconds expected_wait() const;

  Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable earlier_deadline_;  ///< than the one that is waited for
  Clock::time_point watched_deadline_ = Clock::time_point::max();
  Clock::time_point next_search_ = {};
  std::deque<QueuedJob> ready_;
  std::size_t preparing_ = 0;
  std::size_t running_ = 0;  ///< executions
  ModelUse use_;
  std::chrono::nanoseconds mean_run_{0};
  bool is_ending_ = false;
  std::thread deadlines_;  ///< last member: it uses all the others
};

}  // namespace saccade::serve
