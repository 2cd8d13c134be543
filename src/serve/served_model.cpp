#include "serve/served_model.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "serve/tensor_json.hpp"

namespace saccade::serve {
namespace {

bool can_predict(const Model& model) {
  try {
    (void)model.task();
    return true;
  } catch (const Error& error) {  // not recognised, or its input is no image
    if (error.code() != ErrorCode::kUnsupported) throw;
    return false;
  }
}

std::size_t bytes_of(const TensorInfo& tensor) {
  return (static_cast<std::size_t>(tensor.shape.elements()) * bits_of(tensor.dtype) + 7) / 8;
}

/// Runs REQUEST and returns what it counts as.
std::uint64_t ExecutionCounts::*outcome_of(const ServedModel::Request& request, ServedModel::Execution& execution) {
  try {
    try {
      return request.run(execution) ? &ExecutionCounts::run : &ExecutionCounts::refused;
    } catch (const Error& error) {
      request.fail(error);
    } catch (const std::exception& error) {
      request.fail(Error(ErrorCode::kInternal, error.what()));
    }
  } catch (const std::exception& error) {
    log(LogLevel::kWarning, "a request has no reply: {}", error.what());
  }
  return &ExecutionCounts::failed;
}

}  // namespace

ServedModel::Execution::Execution(const Model& model) : model_(model), session_(model) {
  for (const TensorInfo& output : model.outputs()) {
    elements_.emplace_back(bytes_of(output));
    outputs_.push_back({.data = elements_.back().data(),
                        .bytes = elements_.back().size(),
                        .dtype = output.dtype,
                        .shape = output.shape});
  }
  std::vector<std::vector<std::byte>> zeros;
  std::vector<InputBuffer> inputs;
  for (const TensorInfo& input : model.inputs()) {
    zeros.emplace_back(bytes_of(input));
    inputs.push_back({.data = zeros.back().data(), .dtype = input.dtype, .shape = input.shape});
  }
  try {
    (void)run(inputs);
  } catch (const Error& error) {
    // Zeros are no valid input of every model.
    log(LogLevel::kDebug, "{} can't be warmed up with zeros: {}", model.name(), error.what());
  }
  if (can_predict(model)) frames_ = std::make_unique<FrameSession>(model);
}

std::span<const OutputBuffer> ServedModel::Execution::run(std::span<const InputBuffer> inputs) {
  session_.run(inputs, outputs_);
  return outputs_;
}

const Result& ServedModel::Execution::predict(const FrameView& frame) { return frames_->run(frame); }

ServedModel::ServedModel(Model model, const ExecutionOptions& options)
    : model_(std::move(model)), options_(options), predicts_(can_predict(model_)) {
  for (const auto tensors : {model_.inputs(), model_.outputs()})
    for (const TensorInfo& tensor : tensors)
      if (datatype_of(tensor.dtype).empty())
        fail(ErrorCode::kUnsupported, "{} can't be served: '{}' is {}, which the protocol has not", model_.name(),
             tensor.name, to_string(tensor.dtype));
  for (std::size_t i = 0; i < options_.executions; ++i) executions_.push_back(std::make_unique<Execution>(model_));
  for (const auto& execution : executions_) threads_.emplace_back([this, &execution] { execute(*execution); });
}

ServedModel::~ServedModel() {
  std::deque<Request> refused;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    refused.swap(waiting_);
  }
  arrived_.notify_all();
  for (const Request& request : refused) request.refuse(Refusal::kStopped);
  for (std::thread& thread : threads_) thread.join();
}

void ServedModel::submit(Request request) {
  Refusal reason = Refusal::kFull;
  {
    const std::scoped_lock lock(mutex_);
    if (!is_ending_ && waiting_.size() < options_.queue) {
      waiting_.push_back(std::move(request));
      arrived_.notify_one();
      return;
    }
    if (is_ending_) reason = Refusal::kStopped;
    ++counts_.refused;
  }
  request.refuse(reason);
}

void ServedModel::execute(Execution& execution) {
  for (;;) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      request = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const Clock::time_point start = Clock::now();
    std::uint64_t ExecutionCounts::*const count = outcome_of(request, execution);
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
    const std::scoped_lock lock(mutex_);
    ++(counts_.*count);
    constexpr int kMemory = 16;
    if (count == &ExecutionCounts::run) mean_run_ += (took - mean_run_) / (mean_run_.count() == 0 ? 1 : kMemory);
  }
}

ExecutionCounts ServedModel::counts() const {
  const std::scoped_lock lock(mutex_);
  ExecutionCounts counts = counts_;
  counts.waiting = waiting_.size();
  return counts;
}

std::chrono::nanoseconds ServedModel::expected_wait() const {
  const std::scoped_lock lock(mutex_);
  return mean_run_ * static_cast<std::int64_t>(waiting_.size() / options_.executions + 1);
}

}  // namespace saccade::serve
