#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "saccade/model.hpp"
#include "serve/job.hpp"
#include "serve/model_execution.hpp"
#include "serve/serve_state.hpp"
#include "serve/signature.hpp"
#include "serve/workers.hpp"

namespace saccade::serve {

struct ExecutionOptions {
  std::vector<Device> devices = {};       ///< that run it; empty: the one that it was loaded for
  std::size_t executions = 1;             ///< of each device, at a time
  std::size_t queue = 64;                 ///< requests that wait
  std::size_t batch = 1;                  ///< the most images of an execution; 0: as many as are fastest
  std::chrono::nanoseconds batch_wait{};  ///< the longest that a request waits for others
};

/// Runs a model for requests, in the order in which they are ready, each on one of some threads with memory of its own:
/// the first of any device that is free. Requests that wait run together. Any thread.
class ServedModel {
 public:
  /// Compiles and warms up MODEL on each device. WORKERS prepare jobs, and outlive it. Throws Error, (kUnsupported) if
  /// a tensor has a type that the protocol has not, or if OPTIONS want batches and the model takes none.
  ServedModel(Model model, const ExecutionOptions& options, Workers& workers);
  /// As finish().
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const Model& model() const { return model_; }
  /// What it runs on.
  std::span<const Device> devices() const { return options_.devices; }
  /// Whether it makes predictions from images.
  bool predicts() const { return predicts_; }
  /// What its requests have to fit. It may be kept for longer than the model.
  const std::shared_ptr<const Signature>& signature() const { return signature_; }

  /// How long Job::prepare() takes.
  enum class Preparation {
    kShort,  ///< microseconds: the calling thread prepares the job
    kLong,   ///< a worker does
  };
  /// Takes a job. It may have its response before this returns.
  void submit(std::unique_ptr<Job> job, Preparation preparation);
  ModelUse use() const;
  /// Refuses jobs that come from now on, and returns when all others have their responses.
  void finish();

 private:
  struct Entry {
    std::unique_ptr<Job> job;
    Clock::time_point arrived;
    Clock::time_point prepared_from = {};
    Clock::time_point ready = {};
    Clock::time_point taken = {};  ///< from the queue
    bool is_sent = false;
  };
  using Entries = std::vector<Entry>;
  struct Failures {
    std::size_t failed = 0;
    std::size_t invalid = 0;
    std::size_t refused = 0;  ///< for lack of memory
    bool of_device = false;   ///< which can't run others either, perhaps

    Failures& operator+=(const Failures& more);
  };

  template <typename Work>
  Failures failures_of(Job& job, const Work& work);
  bool reserve(Job& job);
  void prepare(Entry entry);
  void execute(ModelExecution& execution);
  bool take(Entries& batch);
  void add_matching(Entries& batch, std::size_t kind, std::size_t& room);
  void watch_deadlines();
  Clock::time_point latest_start(const Job& job) const;
  Entries take_hopeless();
  void refuse_hopeless(Entries& batch);
  void refuse_those(Entries& batch, Refusal reason, std::uint64_t& count,
                    const std::function<bool(const Entry& entry)>& is_meant);
  Failures run(ModelExecution& execution, std::span<Entry> batch, Clock::time_point start);
  void write(Entry entry);
  void count_run(std::chrono::nanoseconds latency);
  static void add_waits(Latency& latency, const Entry& entry, Clock::time_point start);
  void count_execution(std::span<const Entry> batch);
  std::size_t count(const Failures& failures);
  static void run_together(ModelExecution& execution, std::span<const Entry> batch);
  std::chrono::nanoseconds expected_wait() const;
  void refuse_for_memory(Job& job);

  Model model_;
  ExecutionOptions options_;
  bool predicts_ = false;
  Workers& workers_;
  std::vector<std::unique_ptr<ModelExecution>> executions_;
  std::shared_ptr<const Signature> signature_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable earlier_deadline_;  ///< than the one that is waited for
  Clock::time_point watched_deadline_ = Clock::time_point::max();
  std::deque<Entry> ready_;
  std::size_t preparing_ = 0;
  std::size_t running_ = 0;  ///< executions
  std::size_t writing_ = 0;  ///< responses
  ModelUse use_;
  std::chrono::nanoseconds mean_run_{0};
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace saccade::serve
