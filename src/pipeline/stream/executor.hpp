#pragma once

#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/model/model_set.hpp"
#include "pipeline/stream/frame_batcher.hpp"

namespace saccade {

/// The trackers of a pipeline, by lane and model; null: it does not track.
using Trackers = std::vector<std::vector<std::unique_ptr<ResultTracker>>>;

/// Takes batches of frames, runs the models on them and passes the runs on, on its own thread. If the models run on a
/// device, the next batch is submitted before the results of the last one are read.
class Executor {
 public:
  struct Hooks {
    /// Receives every complete run; blocks as long as no other should begin. On the executor's thread.
    std::function<void(FrameRunRef run)> complete;
    /// The lane has ended, and all of its runs are complete. On the executor's thread.
    std::function<void(std::size_t lane)> lane_ended;
    /// It has ended because of an exception. On the executor's thread.
    std::function<void()> failed;
  };

  /// MODELS, FRAMES and RUNS outlive it. It ends at DEADLINE, that of FRAMES. Does not start. TRACKERS may be empty.
  Executor(ModelSet& models, FrameBatcher& frames, FrameRunPool& runs, Clock::time_point deadline, Hooks hooks,
           Trackers trackers = {});
  /// The queue must be cancelled or closed, and `complete` must not block.
  ~Executor() { join(); }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Starts the thread at the first call. In lockstep it lets it process one more frame, unless the last one was not
  /// taken() yet.
  void request();
  /// The result of the last request() was taken.
  void taken();
  /// From now on no frame is begun before its request(), so that the models rest between them. Before the first
  /// request().
  void run_in_lockstep() { lockstep_ = true; }
  /// Ends the wait for a request.
  void cancel() noexcept;
  /// Waits for the thread to end. False if that takes until DEADLINE.
  bool wait_until(Clock::time_point deadline);
  /// Waits for the thread to end.
  void join();
  /// Throws, once, the exception that has ended the thread, if any. Once the thread has ended.
  void check();
  /// Runs that were begun and will not be completed, once the thread has ended; they may be empty.
  std::array<FrameBatch, 2> take_unfinished() { return {std::move(current_), std::move(ahead_)}; }

 private:
  void run_all();
  bool wait_for_request();
  bool fetch(FrameBatch& batch);
  void begin(FrameBatch& batch);
  void process(FrameBatch& batch);
  void run_model(FrameBatch& batch, std::size_t model);
  void read_one(FrameRun& run, std::size_t model, std::size_t place);
  void end_lanes(FrameBatch& batch);
  ResultTracker* tracker_of(const FrameRun& run, std::size_t model) const;

  ModelSet& models_;
  FrameBatcher& frames_;
  FrameRunPool& runs_;
  Clock::time_point deadline_;
  Hooks hooks_;
  Trackers trackers_;
  bool lockstep_ = false;
  FrameBatch current_;                ///< under way
  FrameBatch ahead_;                  ///< the next one
  bool is_ahead_begun_ = false;       ///< the models have started on it
  std::vector<const Frame*> inputs_;  ///< of the batch that begins or runs
  std::size_t prepared_ = 0;          ///< models that have had a result
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  bool is_requested_ = false;  ///< in lockstep: and not begun
  bool is_owed_ = false;       ///< in lockstep: requested, and not taken
  bool cancelled_ = false;
  bool has_ended_ = false;  ///< under the mutex
  std::exception_ptr failure_;
  std::thread thread_;  ///< last member: the thread uses all the others
};

}  // namespace saccade
