#include "pipeline/model/model_set.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"

namespace saccade {

ModelSet::ModelSet(const std::vector<Model>& models) {
  runners_.reserve(models.size());
  for (const Model& model : models) runners_.emplace_back(model, static_cast<int>(runners_.size()));
  if (size() < 2 || std::ranges::any_of(runners_, &ModelRunner::is_tiled)) return;
  std::vector<Runner*> others;
  for (std::size_t i = 1; i < size(); ++i) others.push_back(&runners_[i].execution().runner());
  group_ = runners_[0].execution().runner().group(others);
}

FrameMemory& ModelSet::frame_memory() const {
  for (const ModelRunner& runner : runners_)
    if (runner.frame_memory().kind() != MemoryKind::kPlain) return runner.frame_memory();
  return plain_frame_memory();
}

void ModelSet::begin(const FrameView& frame) {
  if (!overlaps()) return;
  try {
    if (group_ != nullptr) {
      for (ModelRunner& runner : runners_) *runner.execution().frame() = frame;
      group_->submit();
    } else {
      runners_[0].submit(frame);
    }
    under_way_ = true;
  } catch (const Error&) {
    // run() fails in the same way, model by model, and reports which model failed.
  }
}

void ModelSet::wait() {
  ready_ = false;
  if (!under_way_) return;
  under_way_ = false;
  try {
    group_ != nullptr ? group_->wait() : runners_[0].wait();
    ready_ = true;
  } catch (const Error& error) {
    // run() fails in the same way, model by model, and reports which model failed.
    log(LogLevel::kInfo, "a frame is run again, model by model: {}", error.what());
  }
}

void ModelSet::run(std::size_t i, const Frame& frame) { ready_ ? runners_[i].read(frame) : runners_[i].run(frame); }

}  // namespace saccade
