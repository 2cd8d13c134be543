#include "pipeline/model/model_runner.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/model/object_runner.hpp"
#include "pipeline/model/target_tracker.hpp"

namespace saccade {

ModelRunner::ModelRunner(const Model& model, int index, std::span<const std::size_t> batches)
    : model_(model),
      vision_(impl_of(model).vision_plan()),
      execution_(open_execution(model.name(), vision_.plan)),
      reader_(vision_.card, vision_.outputs, model.options().post),
      tiling_(make_tiling(model.options(), vision_, reader_, execution_)) {
  result_.model = model_.name();
  result_.model_index = index;
  reader_.prepare(result_);
  if (is_tiled()) reader_.prepare(tile_);
  outputs_.resize(vision_.plan->graph().outputs().size());
  for (const std::size_t images : batches) {
    const auto& plan = impl_of(model).vision_plan(images).plan;
    batches_.push_back({images, plan, open_execution(model.name(), plan)});
  }
  if (const Model* second = impl_of(model).second())
    objects_ = std::make_unique<ObjectRunner>(*impl_of(model).card().second, *second);
}

ModelRunner::~ModelRunner() = default;
ModelRunner::ModelRunner(ModelRunner&&) noexcept = default;

Execution& ModelRunner::execution_for(std::size_t images) {
  const auto found = std::ranges::find(batches_, images, &Batch::images);
  return found == batches_.end() ? execution_ : found->execution;
}

std::vector<std::shared_ptr<const Plan>> ModelRunner::batch_plans() const {
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const Batch& batch : batches_) plans.push_back(batch.plan);
  return plans;
}

Execution& ModelRunner::choose(std::span<const FrameView> frames) {
  submitted_.reset();
  for (std::size_t i = 0; i < batches_.size() && frames.size() > 1 && !submitted_; ++i)
    if (batches_[i].images >= frames.size()) submitted_ = i;
  const std::span<FrameView> places = submitted().frames();
  if (frames.size() > places.size())
    fail(ErrorCode::kInternal, "{}: {} frames exceed the largest batch", model_.name(), frames.size());
  // Places without a frame repeat the first one. They are not read.
  std::ranges::fill(places, frames[0]);
  std::ranges::copy(frames, places.begin());
  return submitted();
}

FrameView ModelRunner::input_of(const Frame& frame) const {
  const bool is_reachable = frame.view.memory != MemoryKind::kDevice || frame.view.device == frame_memory().device();
  return is_reachable && !(is_tiled() && tiling_->reads_pixels()) ? frame.view : host_view(frame);
}

void ModelRunner::read(std::size_t place, const Frame& frame, ResultTracker* tracker) {
  if (is_tiled()) {
    run_tiles(input_of(frame));
    finish(frame, tracker);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  result_.latency = {};
  read_outputs(place, frame.view);
  add_stage_times();
  result_.latency.post += std::chrono::steady_clock::now() - start;
  finish(frame, tracker);
}

std::unique_ptr<ResultTracker> ModelRunner::make_tracker(double frame_rate) const {
  if (!model_.tracks()) return nullptr;
  const PostprocessOptions& options = model_.options().post;
  return std::make_unique<ResultTracker>(*options.tracker, result_thresholds(*find_objects_head(vision_.card), options),
                                         frame_rate);
}

std::size_t ModelRunner::result_bytes() const {
  const Graph& graph = vision_.plan->graph();
  const auto bytes_at = [&](TensorIndex index) {
    const TensorType& type = graph.value(graph.outputs()[static_cast<std::size_t>(index)]).type;
    return bytes_of(type.dtype, type.shape);
  };
  std::size_t bytes = reader_.most_objects() * sizeof(Detection);
  for (const HeadOutputs& head : vision_.outputs.heads) {
    if (head.keypoints) bytes += bytes_at(head.keypoints->points);
    if (head.class_map) bytes += bytes_at(head.class_map->cells);
    if (head.depth) bytes += bytes_at(head.depth->cells);
    if (head.image) bytes += bytes_at(head.image->pixels);
    if (head.embedding) bytes += bytes_at(head.embedding->vector);
  }
  return bytes;
}

void ModelRunner::follow(const std::array<float, 4>& box) {
  auto* const tracker = dynamic_cast<TargetTracker*>(tiling_.get());
  if (tracker == nullptr)
    fail(ErrorCode::kInvalidArgument, "{}: its task is {}: only a tracker follows an object", model_.name(),
         to_string(vision_.card.task()));
  tracker->follow(box);
}

void ModelRunner::run(const Frame& frame, ResultTracker* tracker) {
  if (!is_tiled()) {
    const FrameView pixels = input_of(frame);
    submit({&pixels, 1});
    wait();
  }
  read(0, frame, tracker);
}

void ModelRunner::warm_up(const FrameView& frame) {
  if (is_stateful()) return;
  if (is_tiled()) {
    run_tiles(frame);
    return;
  }
  for (Batch& batch : batches_) {
    std::ranges::fill(batch.execution.frames(), frame);
    batch.execution.run();
  }
  submit({&frame, 1});
  wait();
  read_outputs(0, frame);
}

/// An image's tensors follow those of the images before, and so do its counts after all tensors.
void ModelRunner::read_outputs(std::size_t place, const FrameView& frame) {
  const Execution& execution = shown();
  const std::size_t images = std::max<std::size_t>(execution.frames().size(), 1);
  const std::size_t tensors = vision_.outputs.tensors;
  const std::size_t counts = outputs_.size() - tensors;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    outputs_[i] = execution.output(i < tensors ? place * tensors + i : images * tensors + place * counts + i - tensors);
  reader_.read(outputs_, frame.width, frame.height, result_);
}

void ModelRunner::run_tiles(const FrameView& frame) {
  result_.latency = {};
  const auto start = std::chrono::steady_clock::now();
  runs_ = tiling_->begin(frame);
  result_.faults = {};
  result_.latency.pre += std::chrono::steady_clock::now() - start;
  const FrameView first = tiling_->tile(0);
  submit({&first, 1});
  for (std::size_t i = 0; i < runs_; ++i) {
    wait();
    add_stage_times();
    for (std::size_t k = 0; k < outputs_.size(); ++k) outputs_[k] = execution_.output(k);
    // A device works on the next tile while the host reads this one's outputs.
    if (i + 1 < runs_) {
      const FrameView next = tiling_->tile(i + 1);
      submit({&next, 1});
    }
    read_tile(i);
  }
  const auto merging = std::chrono::steady_clock::now();
  tiling_->finish(result_);
  result_.latency.post += std::chrono::steady_clock::now() - merging;
}

void ModelRunner::read_tile(std::size_t i) {
  const auto start = std::chrono::steady_clock::now();
  const FrameView tile = tiling_->tile(i);
  reader_.read(outputs_, tile.width, tile.height, tile_);
  result_.faults.add(tile_.faults);
  tiling_->add(i, tile_);
  result_.latency.post += std::chrono::steady_clock::now() - start;
}

void ModelRunner::add_stage_times() {
  const Execution& execution = shown();
  result_.latency.pre += execution.stage_time(Stage::kPre);
  result_.latency.model += execution.stage_time(Stage::kModel);
  result_.latency.post += execution.stage_time(Stage::kPost);
}

/// Sets the identity of the frame, tracks the objects, and runs the second model, which warns of its own faults.
void ModelRunner::finish(const Frame& frame, ResultTracker* tracker) {
  result_.name = frame.name;
  result_.image_id = frame.image_id;
  result_.frame = frame.sequence;
  result_.timestamp_ns = frame.timestamp_ns;
  result_.width = frame.view.width;
  result_.height = frame.view.height;
  if (result_.invalid() && !std::exchange(has_warned_, true)) warn();
  if (tracker != nullptr) {
    const auto start = std::chrono::steady_clock::now();
    tracker->update(result_, tracker->reads_pixels() ? host_view(frame) : frame.view);
    result_.latency.post += std::chrono::steady_clock::now() - start;
  }
  if (objects_ != nullptr) objects_->run(frame, result_);
}

void ModelRunner::warn() const {
  if (log_level() < LogLevel::kWarning) return;
  fmt::memory_buffer text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "{}, frame {}", result_.model, result_.frame);
  if (!result_.name.empty()) fmt::format_to(to, " ({})", result_.name);
  const char* before = ": the predictions are invalid: ";
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!result_.faults.has(fault)) continue;
    fmt::format_to(to, "{}{}", before, to_string(fault));
    before = ", ";
  }
  fmt::format_to(to,
                 "; the weights are damaged, or the card or the precision does not fit the model; further invalid "
                 "frames are only counted");
  write_log(LogLevel::kWarning, {text.data(), text.size()});
}

}  // namespace saccade
