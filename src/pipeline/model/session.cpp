#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"

namespace saccade {
namespace {

void check_type(std::string_view what, const TensorInfo& wanted, DType given) {
  if (wanted.dtype == DType::kString)
    fail(ErrorCode::kUnsupported, "{} '{}' holds strings, which a buffer can't; use tensors", what, wanted.name);
  if (given != wanted.dtype)
    fail(ErrorCode::kInvalidArgument, "{} '{}' is {}, but its buffer is {}", what, wanted.name, to_string(wanted.dtype),
         to_string(given));
}

void check(const TensorInfo& wanted, DType dtype, const Shape& shape) {
  if (dtype != wanted.dtype || shape != wanted.shape)
    fail(ErrorCode::kInvalidArgument, "input '{}' takes {} {}, but got {} {}", wanted.name, to_string(wanted.dtype),
         wanted.shape.to_string(), to_string(dtype), shape.to_string());
}

TensorView checked_view(const TensorInfo& wanted, const Tensor& given) {
  if (given.empty()) fail(ErrorCode::kInvalidArgument, "input '{}' has no tensor", wanted.name);
  check(wanted, given.dtype(), given.shape());
  return view_of(given);
}

TensorView checked_view(const TensorInfo& wanted, const InputBuffer& given) {
  check_type("input", wanted, given.dtype);
  check(wanted, given.dtype, given.shape);
  // Nothing is written through an input's view.
  const TensorView view{const_cast<void*>(given.data), given.dtype, Layout::kRowMajor, given.shape};
  if (view.data == nullptr && view.bytes() != 0)
    fail(ErrorCode::kInvalidArgument, "input '{}' has no data", wanted.name);
  return view;
}

void check(const TensorInfo& wanted, const OutputBuffer& given) {
  check_type("output", wanted, given.dtype);
  const std::size_t needed = bytes_of(wanted.dtype, wanted.shape);
  if (given.bytes < needed || (given.data == nullptr && needed != 0))
    fail(ErrorCode::kInvalidArgument, "output '{}' takes {} bytes, but its buffer has {}", wanted.name, needed,
         given.data == nullptr ? 0 : given.bytes);
}

bool is_on_device(const Tensor& /*tensor*/) { return false; }
bool is_on_device(const InputBuffer& buffer) { return buffer.on_device; }

void check_count(const Model& model, std::string_view what, std::size_t wanted, std::size_t given) {
  if (given != wanted)
    fail(ErrorCode::kInvalidArgument, "{} has {} {}s, but got {}", model.name(), wanted, what, given);
}

}  // namespace

struct Session::State {
  Model model;
  Execution execution;
  bool is_running = false;
  bool is_enqueued = false;  ///< enqueue() was the last to run
  // Tensors on the device; null: on the host.
  std::vector<const void*> from{};
  std::vector<void*> to{};

  template <typename Input>
  void submit(std::span<const Input> inputs, std::span<const OutputBuffer> outputs) {
    if (is_running) fail(ErrorCode::kInvalidArgument, "{} is running; wait for it first", model.name());
    const auto wanted = model.inputs();
    check_count(model, "input", wanted.size(), inputs.size());
    from.assign(inputs.size(), nullptr);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorView view = checked_view(wanted[i], inputs[i]);
      if (is_on_device(inputs[i]))
        from[i] = view.data;
      else
        copy_elements(view, execution.input(i));
    }
    to.assign(model.outputs().size(), nullptr);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].on_device) to[i] = outputs[i].data;
    in_model([&] {
      const auto is_given = [](const void* address) { return address != nullptr; };
      const bool writes_device = std::ranges::any_of(to, is_given);
      if (writes_device) check_fixed_sizes();
      if (std::exchange(is_enqueued, false)) execution.leave_on_device(false);
      if (writes_device || std::ranges::any_of(from, is_given))
        execution.use_device_tensors(from, to);
      else
        execution.use_device_tensors({}, {});
      execution.submit();
    });
    is_running = true;
  }

  void enqueue(std::span<const InputBuffer> inputs, std::span<OutputBuffer> outputs, void* stream) {
    if (is_running) fail(ErrorCode::kInvalidArgument, "{} is running; wait for it first", model.name());
    const auto wanted = model.inputs();
    check_count(model, "input", wanted.size(), inputs.size());
    check_outputs(outputs);
    from.clear();
    to.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) from.push_back(checked_view(wanted[i], inputs[i]).data);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      to.push_back(outputs[i].data);
      outputs[i].shape = model.outputs()[i].shape;
    }
    in_model([&] {
      check_fixed_sizes();
      execution.enqueue(stream, from, to);
      is_enqueued = true;
    });
  }

  void check_fixed_sizes() const {
    const auto extents = execution.plan().graph().extents();
    if (!extents.empty())
      fail(ErrorCode::kUnsupported, "the size of output '{}' depends on the data, which only the host can read",
           model.outputs()[extents.front().output].name);
  }

  void check_outputs(std::span<const OutputBuffer> outputs) const {
    const auto wanted = model.outputs();
    check_count(model, "output", wanted.size(), outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) check(wanted[i], outputs[i]);
  }

  void wait() {
    is_running = false;
    in_model([&] { execution.wait(); });
  }

  void finish(std::span<OutputBuffer> outputs) {
    wait();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      OutputBuffer& output = outputs[i];
      output.shape = data_output_shape(execution, i);
      if (to[i] == nullptr)
        read_data_output(execution, i, {output.data, output.dtype, Layout::kRowMajor, output.shape});
    }
  }

  template <typename Work>
  void in_model(Work&& work) {
    try {
      work();
    } catch (const Error& error) {
      throw error.in(model.name());
    }
  }
};

Session::Session(Model model) {
  Execution execution = open_execution(model.name(), impl_of(model).tensor_plan());
  state_ = std::make_unique<State>(State{std::move(model), std::move(execution)});
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Tensor> Session::run(std::span<const Tensor> inputs) {
  state_->submit(inputs, {});
  state_->wait();
  return read_data_outputs(state_->execution);
}

void Session::run(std::span<const InputBuffer> inputs, std::span<OutputBuffer> outputs) {
  state_->check_outputs(outputs);
  state_->submit(inputs, outputs);
  state_->finish(outputs);
}

void Session::enqueue(std::span<const InputBuffer> inputs, std::span<OutputBuffer> outputs, void* stream) {
  state_->enqueue(inputs, outputs, stream);
}

void Session::submit(std::span<const InputBuffer> inputs) { state_->submit(inputs, {}); }

void Session::wait(std::span<OutputBuffer> outputs) {
  if (!state_->is_running)
    fail(ErrorCode::kInvalidArgument, "{} is not running; submit inputs first", state_->model.name());
  state_->check_outputs(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].on_device)
      fail(ErrorCode::kUnsupported, "output '{}' is on a GPU: run() writes it there", state_->model.outputs()[i].name);
  state_->finish(outputs);
}

}  // namespace saccade
