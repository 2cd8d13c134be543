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

/// The elements of a tensor like INPUT from DATA: an array, flat or nested, row by row. Throws Error (kInvalidArgument)
/// naming the input if their number or a value does not fit.
std::vector<std::byte> elements_from(const nlohmann::json& data, const TensorInfo& input);

/// The ELEMENTS of DTYPE as a flat array; a number that is not finite is null. Throws Error (kInvalidArgument) for a
/// type that the protocol has in binary form only.
nlohmann::json to_json(std::span<const std::byte> elements, DType dtype);

}  // namespace saccade::serve
