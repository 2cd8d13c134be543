#include "serve/tensor_json.hpp"

#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace saccade::serve {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<DType, std::string_view>, 13> kDatatypes = {{{DType::kBool, "BOOL"},
                                                                            {DType::kUInt8, "UINT8"},
                                                                            {DType::kUInt16, "UINT16"},
                                                                            {DType::kUInt32, "UINT32"},
                                                                            {DType::kUInt64, "UINT64"},
                                                                            {DType::kInt8, "INT8"},
                                                                            {DType::kInt16, "INT16"},
                                                                            {DType::kInt32, "INT32"},
                                                                            {DType::kInt64, "INT64"},
                                                                            {DType::kFloat16, "FP16"},
                                                                            {DType::kBFloat16, "BF16"},
                                                                            {DType::kFloat32, "FP32"},
                                                                            {DType::kFloat64, "FP64"}}};

/// Calls WITH(T()) for the type of DTYPE's elements. Throws Error for one that JSON has no numbers for.
template <typename With>
decltype(auto) with_type(DType dtype, std::string_view name, const With& with) {
  switch (dtype) {
    case DType::kBool: return with(bool());
    case DType::kUInt8: return with(std::uint8_t());
    case DType::kUInt16: return with(std::uint16_t());
    case DType::kUInt32: return with(std::uint32_t());
    case DType::kUInt64: return with(std::uint64_t());
    case DType::kInt8: return with(std::int8_t());
    case DType::kInt16: return with(std::int16_t());
    case DType::kInt32: return with(std::int32_t());
    case DType::kInt64: return with(std::int64_t());
    case DType::kFloat32: return with(float());
    case DType::kFloat64: return with(double());
    default:
      fail(ErrorCode::kInvalidArgument, "'{}' is {}, which has no form in JSON: use the binary tensor extension", name,
           to_string(dtype));
  }
}

template <typename T>
bool fits(const json& value) {
  if constexpr (std::same_as<T, bool>)
    return value.is_boolean() || (value.is_number_integer() && (value == 0 || value == 1));
  else if constexpr (std::floating_point<T>)
    return value.is_number() && std::abs(value.get<double>()) <= static_cast<double>(std::numeric_limits<T>::max());
  else if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  else
    return value.is_number_integer() && std::signed_integral<T> &&
           value.get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<T>::min());
}

template <typename T>
T element_from(const json& value) {
  if constexpr (std::same_as<T, bool>)
    return value.is_boolean() ? value.get<bool>() : value == 1;
  else
    return value.get<T>();
}

/// Appends the numbers of DATA to ELEMENTS. SIZES are those of its levels; of flat data, the number of all is checked.
template <typename T>
void flatten(const json& data, const TensorInfo& input, std::span<const std::int64_t> sizes, bool is_flat,
             std::vector<std::byte>& elements) {
  const std::size_t most = static_cast<std::size_t>(input.shape.elements());
  if (data.is_array()) {
    if (sizes.empty())
      fail(ErrorCode::kInvalidArgument, "the data of '{}' is nested deeper than its shape", input.name);
    if (!is_flat && static_cast<std::int64_t>(data.size()) != sizes[0])
      fail(ErrorCode::kInvalidArgument, "the data of '{}' has {} parts where its shape has {}", input.name, data.size(),
           sizes[0]);
    for (const json& part : data) flatten<T>(part, input, sizes.subspan(1), is_flat, elements);
    return;
  }
  if (!sizes.empty())
    fail(ErrorCode::kInvalidArgument, "the data of '{}' is neither flat nor nested as its shape", input.name);
  if (!fits<T>(data))
    fail(ErrorCode::kInvalidArgument, "the data of '{}' holds {}, which is no {}", input.name,
         data.is_structured() ? data.type_name()
                              : data.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40),
         datatype_of(input.dtype));
  if (elements.size() == most * sizeof(T))
    fail(ErrorCode::kInvalidArgument, "the data of '{}' has more than the {} elements of its shape", input.name, most);
  const T element = element_from<T>(data);
  const auto* bytes = reinterpret_cast<const std::byte*>(&element);
  elements.insert(elements.end(), bytes, bytes + sizeof(T));
}

}  // namespace

std::string_view datatype_of(DType dtype) {
  for (const auto& [each, name] : kDatatypes)
    if (each == dtype) return name;
  return {};
}

bool has_json(DType dtype) {
  return !datatype_of(dtype).empty() && dtype != DType::kFloat16 && dtype != DType::kBFloat16;
}

std::vector<std::byte> elements_from(const json& data, const TensorInfo& input) {
  if (!data.is_array()) fail(ErrorCode::kInvalidArgument, "the data of '{}' is no array", input.name);
  return with_type(input.dtype, input.name, [&]<typename T>(T /*type*/) {
    const auto count = static_cast<std::size_t>(input.shape.elements());
    std::vector<std::byte> elements;
    elements.reserve(count * sizeof(T));
    // Flat, or nested as the shape.
    const std::vector<std::int64_t> flat = {input.shape.elements()};
    const std::vector<std::int64_t> nested(input.shape.begin(), input.shape.end());
    const bool is_flat = nested.size() <= 1 || data.empty() || !data[0].is_array();
    flatten<T>(data, input, is_flat ? flat : nested, is_flat, elements);
    if (elements.size() != count * sizeof(T))
      fail(ErrorCode::kInvalidArgument, "the data of '{}' has {} elements, and its shape {}", input.name,
           elements.size() / sizeof(T), count);
    return elements;
  });
}

json to_json(std::span<const std::byte> elements, DType dtype) {
  return with_type(dtype, "an output", [&]<typename T>(T /*type*/) {
    json array = json::array();
    for (std::size_t at = 0; at < elements.size(); at += sizeof(T)) {
      if constexpr (std::same_as<T, bool>) {
        array.push_back(elements[at] != std::byte{0});
      } else {
        T element;
        std::memcpy(&element, elements.data() + at, sizeof(T));
        array.push_back(element);
      }
    }
    return array;
  });
}

}  // namespace saccade::serve
