#include "serve/model_execution.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/model/model_set.hpp"

namespace saccade::serve {
namespace {

std::size_t bytes_of(const TensorInfo& tensor) { return saccade::bytes_of(tensor.dtype, tensor.shape); }

}  // namespace

ModelExecution::ModelExecution(const Model& model, bool predicts, std::size_t batch) : model_(model), batch_(batch) {
  if (batch == 1)
    session_.emplace(model);
  else
    batches_.emplace(model, batch);
  for (const TensorInfo& output : model.outputs()) {
    elements_.emplace_back(batch * bytes_of(output));
    outputs_.push_back({.data = elements_.back().data(),
                        .bytes = elements_.back().size(),
                        .dtype = output.dtype,
                        .shape = output.shape});
  }
  frames_.resize(batch);
  warm_up();
  if (!predicts) return;
  most_frames_ = takes_batches(model) ? batch : 1;
  const std::vector<std::size_t> sizes = batch_sizes_up_to(most_frames_);
  runner_ = std::make_unique<ModelRunner>(model, 0, std::span(sizes).subspan(1));
}

void ModelExecution::warm_up() {
  std::vector<std::vector<std::byte>> zeros;
  std::vector<InputBuffer> inputs;
  for (const TensorInfo& input : model_.inputs()) {
    zeros.emplace_back(batch_ * bytes_of(input));
    Shape shape = input.shape;
    if (batch_ > 1) shape[0] = static_cast<std::int64_t>(batch_);
    inputs.push_back({.data = zeros.back().data(), .dtype = input.dtype, .shape = shape});
  }
  try {
    const TensorInput request{inputs, batch_};
    run(std::span(&request, 1));
  } catch (const Error& error) {
    // Zeros are no valid input of every model.
    log(LogLevel::kDebug, "{} can't be warmed up with zeros: {}", model_.name(), error.what());
  }
}

void ModelExecution::run(std::span<const TensorInput> requests) {
  counts_.clear();
  for (const TensorInput& request : requests) counts_.push_back(request.images);
  if (session_) {
    place_outputs(requests[0].outputs_on_device);
    session_->run(requests[0].tensors, outputs_);
    return;
  }
  images_.clear();
  for (const TensorInput& request : requests) {
    const auto* elements = static_cast<const std::byte*>(request.tensors[0].data);
    const std::size_t bytes = bytes_of(model_.inputs()[0]);
    for (std::size_t i = 0; i < request.images; ++i) images_.push_back(elements + i * bytes);
  }
  batches_->run(images_);
}

/// ON_DEVICE: see TensorInput.
void ModelExecution::place_outputs(std::span<void* const> on_device) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].on_device = !on_device.empty() && on_device[i] != nullptr;
    outputs_[i].data = outputs_[i].on_device ? on_device[i] : elements_[i].data();
  }
}

std::span<const OutputBuffer> ModelExecution::outputs(std::size_t request) {
  if (session_) return outputs_;
  std::size_t first = 0;
  for (std::size_t i = 0; i < request; ++i) first += counts_[i];
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const DType dtype = model_.outputs()[i].dtype;
    const Shape shape = batches_->output_shape(i, counts_[request]);
    batches_->read(i, first, counts_[request], elements_[i].data());
    outputs_[i] = {
        .data = elements_[i].data(), .bytes = saccade::bytes_of(dtype, shape), .dtype = dtype, .shape = shape};
  }
  return outputs_;
}

void ModelExecution::run(std::span<const FrameView> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames_[i].view = frames[i];
    frames_[i].sequence = sequence_++;
  }
  if (runner_->is_tiled()) return;
  runner_->submit(frames);
  runner_->wait();
}

Result& ModelExecution::result(std::size_t i) {
  if (runner_->is_tiled())
    runner_->run(frames_[i]);
  else
    runner_->read(i, frames_[i]);
  return runner_->result();
}

}  // namespace saccade::serve
