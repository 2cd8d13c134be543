#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "saccade/model.hpp"
#include "serve/job.hpp"
#include "serve/model_execution.hpp"
#include "serve/signature.hpp"
#include "serve/workers.hpp"

namespace saccade::serve {

struct ExecutionOptions {
  std::size_t executions = 1;             ///< at a time
  std::size_t queue = 64;                 ///< requests that wait
  std::size_t batch = 1;                  ///< the most images of an execution; 0: as many as are fastest
  std::chrono::nanoseconds batch_wait{};  ///< the longest that a request waits for others
};

/// What happened to the requests of a model so far.
struct ExecutionCounts {
  std::uint64_t run = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;
  std::uint64_t executions = 0;  ///< each of one request or several
  std::size_t waiting = 0;

  ExecutionCounts& operator+=(const ExecutionCounts& more);
};

/// Runs a model for requests, in the order in which they are ready, each on one of some threads with memory of its own.
/// Requests that wait run together. Any thread.
class ServedModel {
 public:
  /// Compiles and warms up MODEL. WORKERS prepare jobs, and outlive it. Throws Error, (kUnsupported) if a tensor has a
  /// type that the protocol has not, or if OPTIONS want batches and the model takes none.
  ServedModel(Model model, const ExecutionOptions& options, Workers& workers);
  /// As finish().
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const Model& model() const { return model_; }
  /// Whether it makes predictions from images.
  bool predicts() const { return predicts_; }
  /// What its requests have to fit. It may be kept for longer than the model.
  const std::shared_ptr<const Signature>& signature() const { return signature_; }

  enum class Prepared { kNo, kYes };
  /// Takes a job. It may have its response before this returns. PREPARED: whether Job::prepare() was called.
  void submit(std::unique_ptr<Job> job, Prepared prepared);
  ExecutionCounts counts() const;
  /// Refuses jobs that come from now on, and returns when all others have their responses.
  void finish();

 private:
  using Jobs = std::vector<std::unique_ptr<Job>>;

  struct Ready {
    std::unique_ptr<Job> job;
    Clock::time_point since;
  };

  void add_ready(std::unique_ptr<Job> job);
  void prepare(std::unique_ptr<Job> job);
  void execute(ModelExecution& execution);
  bool take(Jobs& jobs);
  void add_matching(Jobs& jobs, std::size_t kind, std::size_t& room);
  void refuse_late(Jobs& jobs);
  static std::size_t run(ModelExecution& execution, std::span<const std::unique_ptr<Job>> jobs);
  std::chrono::nanoseconds expected_wait() const;

  Model model_;
  ExecutionOptions options_;
  bool predicts_ = false;
  Workers& workers_;
  std::vector<std::unique_ptr<ModelExecution>> executions_;
  std::shared_ptr<const Signature> signature_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ready> ready_;
  std::size_t preparing_ = 0;
  ExecutionCounts counts_;
  std::chrono::nanoseconds mean_run_{0};
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace saccade::serve
