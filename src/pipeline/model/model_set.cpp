#include "pipeline/model/model_set.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace saccade {

std::vector<std::size_t> batch_sizes_up_to(std::size_t most) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size < most; size *= 2) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

bool takes_batches(const Model& model) {
  const Card& card = impl_of(model).card();
  return card.task() != Task::kTrack && !is_tiled(card, model.options());
}

ModelSet::ModelSet(const std::vector<Model>& models, std::size_t batch) : sizes_(batch_sizes_up_to(batch)) {
  runners_.reserve(models.size());
  inputs_.reserve(this->batch());
  for (const Model& model : models) {
    if (batch > 1 && !takes_batches(model))
      fail(ErrorCode::kUnsupported, "{}: a model that {} does not support batching", model.name(),
           impl_of(model).card().task() == Task::kTrack ? "follows an object" : "runs on tiles of a frame");
    runners_.emplace_back(model, static_cast<int>(runners_.size()), std::span(sizes_).subspan(1));
  }
  make_groups();
}

void ModelSet::make_groups() {
  if (size() < 2 || std::ranges::any_of(runners_, &ModelRunner::is_tiled)) return;
  for (const std::size_t images : sizes_) {
    std::vector<Runner*> others;
    for (std::size_t i = 1; i < size(); ++i) others.push_back(&runners_[i].execution_for(images).runner());
    auto group = runners_[0].execution_for(images).runner().group(others);
    if (group == nullptr) return;
    groups_.emplace(images, std::move(group));
  }
}

FrameMemory& ModelSet::frame_memory() const {
  for (const ModelRunner& runner : runners_)
    if (runner.frame_memory().kind() != MemoryKind::kPlain) return runner.frame_memory();
  return plain_frame_memory();
}

ModelSet::Fault ModelSet::fault(std::size_t model, const std::exception& error) {
  const bool is_exhausted = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return {model, fmt::format("{}: {}", runners_[model].result().model, is_exhausted ? "out of memory" : error.what())};
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
    } catch (const std::exception&) {
      // The first frame will be refused as well, and that is reported.
    }
  }
  // The groups have graphs of their own.
  const bool is_stateful = std::ranges::any_of(runners_, &ModelRunner::is_stateful);
  for (const auto& [images, group] : groups_) {
    Frame frame;
    frame.view = black;
    const std::vector<const Frame*> frames(images, &frame);
    if (!is_stateful && !begin(frames)) static_cast<void>(wait());
  }
  ready_ = false;
  memory.deallocate(buffer.data);
}

std::optional<ModelSet::Fault> ModelSet::begin(std::span<const Frame* const> frames) {
  if (!overlaps()) return {};
  group_ = groups_.empty() ? nullptr : groups_.lower_bound(frames.size())->second.get();
  std::span<const FrameView> inputs;
  try {
    inputs = inputs_of(0, frames);  // the models of a group have one device
  } catch (const std::exception& error) {
    return fault(0, error);
  }
  try {
    if (group_ != nullptr) {
      for (ModelRunner& runner : runners_) runner.choose(inputs);
      group_->submit();
    } else {
      runners_[0].submit(inputs);
    }
  } catch (const std::exception& error) {
    return fault(group_ != nullptr ? group_->failed() : 0, error);
  }
  under_way_ = true;
  return {};
}

std::span<const FrameView> ModelSet::inputs_of(std::size_t i, std::span<const Frame* const> frames) {
  inputs_.clear();
  for (const Frame* frame : frames) inputs_.push_back(runners_[i].input_of(*frame));
  return inputs_;
}

std::optional<ModelSet::Fault> ModelSet::wait() {
  ready_ = std::exchange(under_way_, false);
  if (!ready_) return {};
  try {
    group_ != nullptr ? group_->wait() : runners_[0].wait();
  } catch (const std::exception& error) {
    for (ModelRunner& runner : runners_) runner.show();
    return fault(group_ != nullptr ? group_->failed() : 0, error);
  }
  for (ModelRunner& runner : runners_) runner.show();
  return {};
}

std::optional<ModelSet::Fault> ModelSet::run(std::size_t i, std::span<const Frame* const> frames) {
  if (ready_ || runners_[i].is_tiled()) return {};
  try {
    runners_[i].submit(inputs_of(i, frames));
    runners_[i].wait();
  } catch (const std::exception& error) {
    return fault(i, error);
  }
  return {};
}

std::optional<ModelSet::Fault> ModelSet::read(std::size_t i, std::size_t place, const Frame& frame,
                                              ResultTracker* tracker) {
  try {
    runners_[i].read(place, frame, tracker);
  } catch (const std::exception& error) {
    return fault(i, error);
  }
  return {};
}

}  // namespace saccade
