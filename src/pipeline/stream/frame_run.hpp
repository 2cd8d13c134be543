#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "pipeline/model/model_set.hpp"
#include "tensor/frame.hpp"
#include "vision/result_storage.hpp"

namespace saccade {

class FrameRunPool;

/// One frame on its way through the models, with their results. One thread writes it until Executor::Hooks::complete
/// gets it; then it may be read on several threads. It is reused.
struct FrameRun {
  /// The result of one model.
  struct Output {
    Result result;
    ResultStorage storage;       ///< of what the result refers to
    Clock::time_point started;   ///< its model, after the models before
    Clock::time_point finished;  ///< its result was complete
  };

  Frame frame;
  std::size_t lane = 0;           ///< its stream
  std::size_t batch = 1;          ///< frames that the models process at once, this one included
  Clock::time_point requested;    ///< the models were ready
  Clock::time_point waits_since;  ///< for other frames of its batch
  Clock::time_point fetched;      ///< it left the queue
  std::deque<Output> outputs;     ///< by model; of these the first `done` are of this frame
  std::size_t done = 0;
  std::optional<ModelSet::Fault> fault;  ///< why there are no more

 private:
  friend class FrameRunPool;
  friend class FrameRunRef;
  FrameRunPool* pool_ = nullptr;
  std::atomic<int> references_ = 0;
};

/// A counted reference to a FrameRun. When the last one ends, the frame's pixels are released. Any thread.
class FrameRunRef {
 public:
  FrameRunRef() = default;
  FrameRunRef(const FrameRunRef& other) noexcept : run_(other.run_) {
    if (run_ != nullptr) ++run_->references_;
  }
  FrameRunRef(FrameRunRef&& other) noexcept : run_(std::exchange(other.run_, nullptr)) {}
  FrameRunRef& operator=(FrameRunRef other) noexcept {
    std::swap(run_, other.run_);
    return *this;
  }
  ~FrameRunRef();

  explicit operator bool() const noexcept { return run_ != nullptr; }
  FrameRun& operator*() const noexcept { return *run_; }
  FrameRun* operator->() const noexcept { return run_; }

 private:
  friend class FrameRunPool;
  explicit FrameRunRef(FrameRun& run) noexcept : run_(&run) { run.references_ = 1; }

  FrameRun* run_ = nullptr;
};

/// A fixed number of them. Outlives its references.
class FrameRunPool {
 public:
  FrameRunPool(std::size_t runs, std::size_t models);

  /// One that is not in use. The pool is large enough for all of its users: throws Error (kInternal) if there is none.
  FrameRunRef take();
  /// Makes room for results like RESULT, of the model with the index MODEL, in all that are not in use.
  void prepare(std::size_t model, const Result& result);

 private:
  friend class FrameRunRef;
  void give_back(FrameRun& run) noexcept;

  std::mutex mutex_;
  std::deque<FrameRun> runs_;
  std::vector<FrameRun*> free_;  ///< the last one was used last: its memory is warm
};

}  // namespace saccade
