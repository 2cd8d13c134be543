#include "serve/signature.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "serve/tensor_json.hpp"

namespace saccade::serve {

std::string brief(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  return text.size() <= kLongest ? std::string(text) : std::string(text.substr(0, kLongest)) + "...";
}

std::size_t find_tensor(std::span<const TensorInfo> infos, std::string_view name, const char* kind) {
  const auto found = std::ranges::find(infos, name, &TensorInfo::name);
  if (found != infos.end()) return static_cast<std::size_t>(found - infos.begin());
  std::string names;
  for (const TensorInfo& info : infos) names += (names.empty() ? "'" : ", '") + info.name + "'";
  fail(ErrorCode::kInvalidArgument, "there is no {0} '{1}'; the {0}s are {2}", kind, brief(name), names);
}

NamedTensors::NamedTensors(std::span<const TensorInfo> infos, const char* kind)
    : infos_(infos), kind_(kind), is_named_(infos.size()) {}

std::size_t NamedTensors::add(std::string_view name) {
  const std::size_t index = find_tensor(infos_, name, kind_);
  if (is_named_[index]) fail(ErrorCode::kInvalidArgument, "the {} '{}' is there twice", kind_, infos_[index].name);
  is_named_[index] = true;
  return index;
}

void NamedTensors::check_complete() const {
  const auto missing = std::ranges::find(is_named_, false);
  if (missing != is_named_.end())
    fail(ErrorCode::kInvalidArgument, "the {} '{}' is missing", kind_,
         infos_[static_cast<std::size_t>(missing - is_named_.begin())].name);
}

void check_elements(const TensorInfo& input, std::string_view bytes) {
  const auto is_boolean = [](char byte) { return byte == 0 || byte == 1; };
  if (input.dtype == DType::kBool && !std::ranges::all_of(bytes, is_boolean))
    fail(ErrorCode::kInvalidArgument, "the data of '{}' holds a byte that is neither 0 nor 1", input.name);
}

TensorInfo requested_input(const Signature& model, const TensorInfo& input, std::string_view datatype,
                           std::span<const std::int64_t> shape) {
  if (datatype != datatype_of(input.dtype))
    fail(ErrorCode::kInvalidArgument, "the datatype of '{}' is {}, not {}", input.name, datatype_of(input.dtype),
         datatype.empty() ? "missing" : brief(datatype));
  TensorInfo requested = input;
  const auto most = static_cast<std::int64_t>(model.most_images);
  if (most > 1 && !shape.empty() && shape[0] >= 1 && shape[0] <= most) requested.shape[0] = shape[0];
  if (!std::ranges::equal(shape, requested.shape))
    fail(ErrorCode::kInvalidArgument, "the shape of '{}' is [{}]{}, not {}", input.name,
         fmt::join(described_shape(model, input, 0), ","), most > 1 ? fmt::format(" with 1 to {} images", most) : "",
         brief(fmt::format("[{}]", fmt::join(shape, ","))));
  return requested;
}

std::vector<std::int64_t> described_shape(const Signature& model, const TensorInfo& tensor, std::optional<int> axis) {
  std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
  if (model.most_images > 1 && axis) shape[static_cast<std::size_t>(*axis)] = -1;
  return shape;
}

}  // namespace saccade::serve
