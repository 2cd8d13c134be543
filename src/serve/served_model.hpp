#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "saccade/error.hpp"
#include "saccade/frame_session.hpp"
#include "saccade/model.hpp"

namespace saccade::serve {

struct ExecutionOptions {
  std::size_t executions = 1;  ///< at a time
  std::size_t queue = 64;      ///< requests that wait
};

/// Why a request was not run.
enum class Refusal {
  kFull,     ///< as many wait as may
  kLate,     ///< its deadline passed while it waited
  kStopped,  ///< the server is ending
};

/// What happened to the requests of a model so far.
struct ExecutionCounts {
  std::uint64_t run = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;
  std::size_t waiting = 0;
};

/// Runs a model for requests, in the order in which they come, each on one of some threads with memory of its own. Any
/// thread.
class ServedModel {
 public:
  /// Of a thread that runs the model.
  class Execution {
   public:
    explicit Execution(const Model& model);
    /// Runs on INPUTS. The outputs, in the model's order, are valid until the next run. Throws Error.
    std::span<const OutputBuffer> run(std::span<const InputBuffer> inputs);
    /// Of a model that predicts(). The result is valid until the next prediction. Throws Error.
    const Result& predict(const FrameView& frame);

   private:
    const Model& model_;
    Session session_;
    std::unique_ptr<FrameSession> frames_;  ///< null: the model does not predict
    std::vector<std::vector<std::byte>> elements_;
    std::vector<OutputBuffer> outputs_;
  };

  struct Request {
    /// Throws what the request fails with. False: it was refused after all.
    std::function<bool(Execution&)> run;
    std::function<void(Refusal)> refuse;     ///< instead of run
    std::function<void(const Error&)> fail;  ///< after run has thrown
  };

  /// Compiles and warms up MODEL. Throws Error, (kUnsupported) if a tensor has a type that the protocol has not.
  ServedModel(Model model, const ExecutionOptions& options);
  /// Refuses what waits, and ends what runs.
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const Model& model() const { return model_; }
  /// Whether it makes predictions from images.
  bool predicts() const { return predicts_; }

  /// Calls one of the request's functions, from any thread, maybe before it returns.
  void submit(Request request);
  ExecutionCounts counts() const;
  /// How long a request that came now would wait, by the mean of the last runs.
  std::chrono::nanoseconds expected_wait() const;

 private:
  void execute(Execution& execution);

  Model model_;
  ExecutionOptions options_;
  bool predicts_ = false;
  std::vector<std::unique_ptr<Execution>> executions_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Request> waiting_;
  ExecutionCounts counts_;
  std::chrono::nanoseconds mean_run_{0};
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace saccade::serve
