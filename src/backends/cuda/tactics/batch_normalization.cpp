#include <cmath>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/tactics.hpp"
#include "tensor/numbers.hpp"

// BatchNormalization as one scale and shift per channel, folded at plan time if the parameters are constant. After a
// convolution a pass has folded it into the weights.
namespace saccade::cuda {
namespace {

Support supports_batch(const NodeContext& context) {
  if (!context.node.is("BatchNormalization")) return Support::other_operator("not a BatchNormalization");
  for (int i = 0; i < 5; ++i)
    if (!is_computed_in_float(context.input(i).type.dtype)) return Support::no("it computes in float64");
  return {};
}

std::string batch(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const float epsilon = context.node.attributes.real("epsilon", 1e-5F);
  const std::string channel = code.let("int32", at[1]);
  std::vector<std::vector<double>> constants;
  for (int i = 1; i < 5; ++i)
    if (const Tensor* constant = context.constant(i))
      if (auto numbers = numbers_of(*constant)) constants.emplace_back(numbers->begin(), numbers->end());
  if (constants.size() < 4)
    return fmt::format("({} - {}) * ({} / sqrt({} + {})) + {}", code.input(0, at), code.input(3, {channel}),
                       code.input(1, {channel}), code.input(4, {channel}), literal(epsilon), code.input(2, {channel}));
  std::vector<float> factors;
  std::vector<float> offsets;
  for (std::size_t i = 0; i < constants[0].size(); ++i) {
    const double factor = constants[0][i] / std::sqrt(constants[3][i] + static_cast<double>(epsilon));
    factors.push_back(static_cast<float>(factor));
    offsets.push_back(static_cast<float>(constants[1][i] - constants[2][i] * factor));
  }
  return fmt::format("{0} * {1}[{3}] + {2}[{3}]", code.input(0, at), code.table("float", factors),
                     code.table("float", offsets), channel);
}

}  // namespace

std::unique_ptr<Tactic> batch_normalization(Device& device) {
  return element_tactic(device, {"elements.batch_normalization", supports_batch, batch});
}

}  // namespace saccade::cuda
