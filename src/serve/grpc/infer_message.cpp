#include "grpc/infer_message.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <concepts>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "grpc/text.hpp"
#include "serve/protocol.hpp"
#include "serve/tensor_json.hpp"
#include "tensor/view.hpp"

namespace saccade::serve {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;

template <typename... Args>
[[noreturn]] void refuse_message(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

const void* raw_elements(const TensorInfo& input, const std::string& raw) {
  if (raw.size() != bytes_of(input.dtype, input.shape))
    refuse_message("the raw_input_contents of '{}' have {} bytes, and its shape {}", input.name, raw.size(),
                   bytes_of(input.dtype, input.shape));
  check_elements(input, raw);
  return raw.data();
}

/// The elements of INPUT, of type T, in the FIELD of contents where they are GIVEN, perhaps in a wider type.
template <typename T, typename Given>
const void* typed_elements(const TensorInfo& input, const google::protobuf::RepeatedField<Given>& given,
                           const char* field, InferMessage& to) {
  if (given.size() != input.shape.elements())
    refuse_message("'{}' has {} {}, and its shape {} elements", input.name, given.size(), field,
                   input.shape.elements());
  if constexpr (std::same_as<T, Given>) {
    return given.data();
  } else {
    std::vector<std::byte>& elements = to.elements.emplace_back(static_cast<std::size_t>(given.size()) * sizeof(T));
    std::byte* at = elements.data();
    for (const Given element : given) {
      if (!std::in_range<T>(element))
        refuse_message("the data of '{}' holds {}, which is no {}", input.name, element, datatype_of(input.dtype));
      const T narrow = static_cast<T>(element);
      std::memcpy(at, &narrow, sizeof(T));
      at += sizeof(T);
    }
    return elements.data();
  }
}

const void* contents_of(const TensorInfo& input, const InferTensorContents& contents, InferMessage& to) {
  const auto ints = [&]<typename T>(T /*type*/) {
    return typed_elements<T>(input, contents.int_contents(), "int_contents", to);
  };
  const auto uints = [&]<typename T>(T /*type*/) {
    return typed_elements<T>(input, contents.uint_contents(), "uint_contents", to);
  };
  switch (input.dtype) {
    case DType::kBool: return typed_elements<bool>(input, contents.bool_contents(), "bool_contents", to);
    case DType::kInt8: return ints(std::int8_t());
    case DType::kInt16: return ints(std::int16_t());
    case DType::kInt32: return ints(std::int32_t());
    case DType::kInt64: return typed_elements<std::int64_t>(input, contents.int64_contents(), "int64_contents", to);
    case DType::kUInt8: return uints(std::uint8_t());
    case DType::kUInt16: return uints(std::uint16_t());
    case DType::kUInt32: return uints(std::uint32_t());
    case DType::kUInt64: return typed_elements<std::uint64_t>(input, contents.uint64_contents(), "uint64_contents", to);
    case DType::kFloat32: return typed_elements<float>(input, contents.fp32_contents(), "fp32_contents", to);
    case DType::kFloat64: return typed_elements<double>(input, contents.fp64_contents(), "fp64_contents", to);
    default:
      refuse_message("'{}' is {}, which has no form in contents: use raw_input_contents", input.name,
                     datatype_of(input.dtype));
  }
}

void read_inputs(const Signature& model, const ModelInferRequest& request, InferMessage& to) {
  const bool is_raw = request.raw_input_contents_size() > 0;
  if (is_raw && request.raw_input_contents_size() != request.inputs_size())
    refuse_message("the request has {} inputs and {} raw_input_contents", request.inputs_size(),
                   request.raw_input_contents_size());
  to.inputs.resize(model.inputs.size());
  NamedTensors named(model.inputs, "input");
  for (int i = 0; i < request.inputs_size(); ++i) {
    const auto& tensor = request.inputs(i);
    const std::size_t index = named.add(tensor.name());
    const std::span shape(tensor.shape().data(), static_cast<std::size_t>(tensor.shape_size()));
    const TensorInfo input = requested_input(model, model.inputs[index], tensor.datatype(), shape);
    if (is_raw && tensor.has_contents()) refuse_message("'{}' has both contents and raw_input_contents", input.name);
    if (!is_raw && !tensor.has_contents())
      refuse_message("'{}' has neither contents nor raw_input_contents", input.name);
    if (model.most_images > 1) to.images = static_cast<std::size_t>(input.shape[0]);
    to.inputs[index] = {
        .data = is_raw ? raw_elements(input, request.raw_input_contents(i)) : contents_of(input, tensor.contents(), to),
        .dtype = input.dtype,
        .shape = input.shape};
  }
  named.check_complete();
}

void read_outputs(const Signature& model, const ModelInferRequest& request, InferMessage& to) {
  if (request.outputs_size() == 0)
    for (std::size_t i = 0; i < model.outputs.size(); ++i) to.outputs.push_back(i);
  NamedTensors named(model.outputs, "output");
  for (const auto& tensor : request.outputs()) {
    to.outputs.push_back(named.add(tensor.name()));
    if (tensor.parameters().contains("classification")) refuse_message("{}", kNoClassification);
  }
}

std::optional<std::chrono::microseconds> timeout_in(const ModelInferRequest& request) {
  const auto found = request.parameters().find("timeout");
  if (found == request.parameters().end()) return std::nullopt;
  const inference::InferParameter& given = found->second;
  if (given.has_uint64_param()) return timeout_of(given.uint64_param());
  if (!given.has_int64_param() || given.int64_param() < 0)
    refuse_message("the parameter 'timeout' is no number of microseconds");
  return timeout_of(static_cast<std::uint64_t>(given.int64_param()));
}

/// What comes before the BYTES of an element of raw_output_contents.
std::string raw_output_header(std::size_t bytes) {
  constexpr int kField = inference::ModelInferResponse::kRawOutputContentsFieldNumber;
  constexpr std::uint8_t kTag = kField << 3 | 2;  // a length and bytes
  std::array<std::uint8_t, 11> header{kTag};
  const std::uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(bytes, header.data() + 1);
  return {reinterpret_cast<const char*>(header.data()), reinterpret_cast<const char*>(end)};
}

}  // namespace

bool is_short(const ModelInferRequest& request) { return request.raw_input_contents_size() > 0; }

InferMessage parse_infer_message(const Signature& model, const ModelInferRequest& request) {
  InferMessage parsed;
  parsed.timeout = timeout_in(request);
  read_inputs(model, request, parsed);
  read_outputs(model, request, parsed);
  return parsed;
}

grpc::ByteBuffer response_to(const Signature& model, const ModelInferRequest& request, const InferMessage& parsed,
                             std::span<const OutputBuffer> outputs) {
  inference::ModelInferResponse response;
  response.set_model_name(text_of(model.name));
  response.set_model_version(std::string(kVersion));
  response.set_id(request.id());
  for (const std::size_t index : parsed.outputs) {
    const OutputBuffer& output = outputs[index];
    auto& tensor = *response.add_outputs();
    tensor.set_name(text_of(model.outputs[index].name));
    tensor.set_datatype(std::string(datatype_of(output.dtype)));
    tensor.mutable_shape()->Add(output.shape.begin(), output.shape.end());
  }
  // The elements are the message's last field. Written behind the others, they need not be copied into it first.
  std::vector<grpc::Slice> slices{grpc::Slice(response.SerializeAsString())};
  for (const std::size_t index : parsed.outputs) {
    const std::size_t bytes = bytes_of(outputs[index].dtype, outputs[index].shape);
    slices.emplace_back(raw_output_header(bytes));
    slices.emplace_back(outputs[index].data, bytes);
  }
  return {slices.data(), slices.size()};
}

}  // namespace saccade::serve
