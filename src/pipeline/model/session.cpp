#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"

namespace saccade {
namespace {

void check(const TensorInfo& wanted, const Tensor& given) {
  if (given.empty()) fail(ErrorCode::kInvalidArgument, "input '{}' has no tensor", wanted.name);
  if (given.dtype() != wanted.dtype || given.shape() != wanted.shape)
    fail(ErrorCode::kInvalidArgument, "input '{}' takes {} {}, but got {} {}", wanted.name, to_string(wanted.dtype),
         wanted.shape.to_string(), to_string(given.dtype()), given.shape().to_string());
}

}  // namespace

struct Session::State {
  Model model;
  Execution execution;
};

Session::Session(Model model) {
  Execution execution = open_execution(model.name(), model.impl()->tensor_plan());
  state_ = std::make_unique<State>(State{std::move(model), std::move(execution)});
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Tensor> Session::run(std::span<const Tensor> inputs) {
  const Model& model = state_->model;
  const auto wanted = model.inputs();
  if (inputs.size() != wanted.size())
    fail(ErrorCode::kInvalidArgument, "{} takes {} inputs, but got {}", model.name(), wanted.size(), inputs.size());
  Execution& execution = state_->execution;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(wanted[i], inputs[i]);
    copy_elements(view_of(inputs[i]), execution.input(i));
  }
  try {
    execution.run();
  } catch (const Error& error) {
    throw error.in(model.name());
  }
  return read_data_outputs(execution);
}

}  // namespace saccade
