#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "saccade/model.hpp"
#include "serve/job.hpp"
#include "serve/job_queue.hpp"
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
  struct Failures {
    std::size_t failed = 0;
    std::size_t invalid = 0;
    std::size_t refused = 0;  ///< for lack of memory
    bool of_device = false;   ///< which can't run others either, perhaps

    Failures& operator+=(const Failures& more);
  };

  template <typename Work>
  Failures failures_of(Job& job, const Work& work);
  void prepare(QueuedJob job);
  void execute(ModelExecution& execution);
  Failures run(ModelExecution& execution, std::span<QueuedJob> batch, Clock::time_point start);
  void write(QueuedJob job);
  void count_run(std::chrono::nanoseconds latency);
  static void add_waits(Latency& latency, const QueuedJob& job, Clock::time_point start);
  void count_execution(std::span<const QueuedJob> batch);
  std::size_t count(const Failures& failures);
  static void run_together(ModelExecution& execution, std::span<const QueuedJob> batch);

  Model model_;
  ExecutionOptions options_;
  bool predicts_ = false;
  Workers& workers_;
  std::vector<std::unique_ptr<ModelExecution>> executions_;
  std::shared_ptr<const Signature> signature_;
  std::optional<JobQueue> queue_;  ///< made once the executions are there
  mutable std::mutex mutex_;
  std::condition_variable written_;
  std::size_t writing_ = 0;  ///< responses
  ModelUse use_;             ///< but for what the queue counts
  std::vector<std::thread> threads_;
};

}  // namespace saccade::serve
