#pragma once

#include <string_view>

namespace saccade::serve {

// Parameters of the Open Inference Protocol (KServe v2), by HTTP and by gRPC.

/// Throws Error (kInvalidArgument): a model is loaded without the parameter NAME.
[[noreturn]] void refuse_parameter(std::string_view name);

/// What the parameters of an inference belong to.
enum class ParametersOf { kRequest, kInput, kOutput };

/// Throws Error (kInvalidArgument) if the parameter NAME of an inference is not known: it would have no effect.
void check_parameter(std::string_view name, ParametersOf of);

}  // namespace saccade::serve
