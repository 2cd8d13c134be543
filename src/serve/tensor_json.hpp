#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "saccade/model.hpp"

namespace saccade::serve {

/// The name of DTYPE in the Open Inference Protocol, as "FP32"; empty if it has none.
std::string_view datatype_of(DType dtype);

/// Whether tensors of DTYPE have a form in JSON; FP16 and BF16 are binary only.
bool has_json(DType dtype);

/// The elements of a tensor like INPUT from DATA: an array, flat or nested, row by row. Throws Error (kInvalidArgument)
/// naming the input if their number or a value does not fit.
std::vector<std::byte> elements_from(const nlohmann::json& data, const TensorInfo& input);

/// The ELEMENTS of DTYPE, which has_json(), as a flat array; a number that is not finite is null.
nlohmann::json to_json(std::span<const std::byte> elements, DType dtype);

}  // namespace saccade::serve
