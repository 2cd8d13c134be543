#include "op_case/function_values.hpp"

#include "op_case/every_backend.hpp"

// Numbers that a reader knows, whoever computes them.
namespace saccade {
namespace {

SACCADE_EVERY_BACKEND(KnownFunctions);

TEST_P(KnownFunctions, GiveTheKnownValues) {
  for (const FunctionValues& values : kFunctionValues) {
    OpCase made(values.op);
    made.input(vector_of(values.x)).expect(vector_of(values.y));
    for (const auto& [name, value] : values.attributes) made.attribute(name, value);
    made.check(by(), {.absolute = 1e-6, .relative = 0});
    for (const auto& [dtype, rounding] : {std::pair{DType::kFloat16, 4e-3}, {DType::kBFloat16, 3e-2}})
      if (!is_on(TestedBackend::kCpu)) made.in(dtype).check(by(), {.absolute = rounding, .relative = 0});
  }
}

}  // namespace
}  // namespace saccade
