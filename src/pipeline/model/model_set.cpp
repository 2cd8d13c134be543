#include "pipeline/model/model_set.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

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

ModelSet::Fault ModelSet::fault(std::size_t model, const Error& error) {
  return {model, error.in(std::string(runners_[model].result().model)).what()};
}

void ModelSet::warm_up(int width, int height) {
  FrameMemory& memory = frame_memory();
  const std::size_t bytes = frame_bytes(PixelFormat::kRgb24, width, height);
  FrameBuffer buffer{.data = memory.allocate(bytes), .capacity = bytes, .memory = memory.kind()};
  std::memset(buffer.data, 0, bytes);
  const FrameView black = lay_out(buffer, PixelFormat::kRgb24, width, height);
  for (ModelRunner& runner : runners_) {
    try {
      runner.warm_up(black);
    } catch (const Error&) {
      // The first frame will be refused as well, and that is reported.
    }
  }
  // The group has a graph of its own.
  const bool is_stateful = std::ranges::any_of(runners_, &ModelRunner::is_stateful);
  if (group_ != nullptr && !is_stateful && !begin(black)) static_cast<void>(wait());
  ready_ = false;
  memory.deallocate(buffer.data);
}

std::optional<ModelSet::Fault> ModelSet::begin(const FrameView& frame) {
  if (!overlaps()) return {};
  try {
    if (group_ != nullptr) {
      for (ModelRunner& runner : runners_) *runner.execution().frame() = frame;
      group_->submit();
    } else {
      runners_[0].submit(frame);
    }
  } catch (const Error& error) {
    return fault(group_ != nullptr ? group_->failed() : 0, error);
  }
  under_way_ = true;
  return {};
}

std::optional<ModelSet::Fault> ModelSet::begin(const Frame& frame) {
  if (!overlaps()) return {};
  try {
    return begin(runners_[0].input_of(frame));  // the models of a group have one device
  } catch (const Error& error) {
    return fault(0, error);
  }
}

std::optional<ModelSet::Fault> ModelSet::wait() {
  ready_ = std::exchange(under_way_, false);
  if (!ready_) return {};
  try {
    group_ != nullptr ? group_->wait() : runners_[0].wait();
  } catch (const Error& error) {
    return fault(group_ != nullptr ? group_->failed() : 0, error);
  }
  return {};
}

std::optional<ModelSet::Fault> ModelSet::run(std::size_t i, const Frame& frame, ResultTracker* tracker) {
  try {
    ready_ ? runners_[i].read(frame, tracker) : runners_[i].run(frame, tracker);
  } catch (const Error& error) {
    return fault(i, error);
  }
  return {};
}

}  // namespace saccade
