#include "runtime/tensor_blob.hpp"

#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "runtime/json_numbers.hpp"
#include "tensor/view.hpp"

namespace saccade {
namespace {

using Json = nlohmann::json;

// Of tensors, and behind the last one.
constexpr std::size_t kAlignment = 64;

}  // namespace

Json TensorBlob::add(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) fail(ErrorCode::kUnsupported, "string constants can't be saved in a plan");
  return {{"dtype", static_cast<int>(tensor.dtype())},
          {"shape", shape_json(tensor.shape())},
          {"offset", add({reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()})}};
}

std::size_t TensorBlob::add(std::string_view bytes) {
  bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
  const std::size_t offset = bytes_.size();
  bytes_.append(bytes);
  return offset;
}

const std::string& TensorBlob::bytes() {
  bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment + kAlignment);
  return bytes_;
}

std::string_view StoredTensors::bytes(std::size_t offset, std::size_t count, std::string_view what) {
  if (offset > blob_.size() || count > blob_.size() - offset)
    fail(ErrorCode::kInvalidFile, "{} lies outside the file: compile the plan again", what);
  if (count > left_) fail(ErrorCode::kInvalidFile, "{} overlaps another: compile the plan again", what);
  left_ -= count;
  return blob_.substr(offset, count);
}

bool StoredTensors::may_share(std::string_view elements) const {
  // A page of a file is mapped with its neighbours, up to a huge page: for a few bytes a copy takes less memory.
  constexpr std::size_t kLeastBytes = 64 << 10;
  if (keeper_ == nullptr || elements.size() < kLeastBytes) return false;
  const char* end = elements.data() + elements.size();
  return reinterpret_cast<std::uintptr_t>(elements.data()) % kAlignment == 0 &&
         static_cast<std::size_t>(blob_.data() + blob_.size() - end) >= kAlignment;
}

Tensor StoredTensors::tensor(const Json& json) {
  const DType dtype = enum_from(json.at("dtype"), DType::kFrame);
  const Shape shape = shape_from(json.at("shape"));
  if (!json.at("offset").is_number_unsigned()) fail(ErrorCode::kInvalidFile, "a constant's offset is not a number");
  if (dtype == DType::kString || dtype == DType::kFrame)
    fail(ErrorCode::kInvalidFile, "a constant can't be {}", to_string(dtype));
  const std::string_view elements = bytes(json.at("offset").get<std::size_t>(), bytes_of(dtype, shape), "a constant");
  // Reading any byte but 0 and 1 as a bool is undefined behaviour.
  if (dtype == DType::kBool && elements.find_first_not_of(std::string_view("\0\1", 2)) != std::string_view::npos)
    fail(ErrorCode::kInvalidFile, "a constant of bools holds something else");
  if (may_share(elements)) {
    auto* start = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(elements.data()));
    return Tensor::sharing(dtype, shape, {std::const_pointer_cast<void>(keeper_), start});
  }
  Tensor tensor(dtype, shape);
  if (!elements.empty()) std::memcpy(tensor.raw(), elements.data(), elements.size());
  return tensor;
}

}  // namespace saccade
