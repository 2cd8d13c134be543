#include "pipeline/stream/frame_run.hpp"

#include "base/error.hpp"

namespace saccade {

FrameRunRef::~FrameRunRef() {
  if (run_ != nullptr && --run_->references_ == 0) run_->pool_->give_back(*run_);
}

FrameRunPool::FrameRunPool(std::size_t runs, std::size_t models) {
  free_.reserve(runs);
  for (std::size_t i = 0; i < runs; ++i) {
    FrameRun& run = runs_.emplace_back();
    run.pool_ = this;
    for (std::size_t k = 0; k < models; ++k) run.outputs.emplace_back();
    free_.push_back(&run);
  }
}

FrameRunRef FrameRunPool::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) fail(ErrorCode::kInternal, "more frames are in work than there is room for");
  FrameRun& run = *free_.back();
  free_.pop_back();
  return FrameRunRef(run);
}

void FrameRunPool::prepare(std::size_t model, const Result& result) {
  const std::scoped_lock lock(mutex_);
  for (FrameRun* run : free_) run->outputs[model].storage.reserve(result, run->outputs[model].result);
}

void FrameRunPool::give_back(FrameRun& run) noexcept {
  run.frame = Frame();
  run.done = 0;
  run.fault.reset();
  const std::scoped_lock lock(mutex_);
  free_.push_back(&run);  // within the reserved capacity
}

}  // namespace saccade
