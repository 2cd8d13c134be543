#include "grpc/infer_message.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "grpc/text.hpp"
#include "serve/parameters.hpp"
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

using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;

void check_parameters(const Parameters& parameters, ParametersOf of) {
  for (const auto& [name, value] : parameters) check_parameter(name, of);
}

/// The parameter NAME, a number of bytes; nullopt if there is none.
std::optional<std::uint64_t> byte_count_in(const Parameters& parameters, const char* name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::nullopt;
  const inference::InferParameter& given = found->second;
  if (given.has_uint64_param()) return given.uint64_param();
  if (!given.has_int64_param() || given.int64_param() < 0)
    refuse_message("the parameter '{}' is no number of bytes", name);
  return static_cast<std::uint64_t>(given.int64_param());
}

/// Where the tensor NAME with PARAMETERS is in shared memory; nullopt if it is not.
std::optional<RegionTensor> region_in(const Parameters& parameters, const MemoryRegions& regions,
                                      std::string_view name) {
  if (parameters.empty()) return std::nullopt;
  RegionParameters given{.region = std::nullopt,
                         .bytes = byte_count_in(parameters, kRegionBytes),
                         .offset = byte_count_in(parameters, kRegionOffset)};
  if (const auto found = parameters.find(kRegion); found != parameters.end()) {
    if (!found->second.has_string_param()) refuse_message("the parameter '{}' is no string", kRegion);
    given.region = found->second.string_param();
  }
  return regions.find(given, name);
}

void read_inputs(const Signature& model, const MemoryRegions& regions, const ModelInferRequest& request,
                 InferMessage& to) {
  const auto is_outside = [](const auto& tensor) { return tensor.parameters().contains(kRegion); };
  const auto inside =
      request.inputs_size() - std::count_if(request.inputs().begin(), request.inputs().end(), is_outside);
  const bool is_raw = request.raw_input_contents_size() > 0;
  if (is_raw && request.raw_input_contents_size() != inside)
    refuse_message("the request has {} inputs{} and {} raw_input_contents", inside,
                   inside == request.inputs_size() ? "" : " outside of shared memory",
                   request.raw_input_contents_size());
  int raw = 0;
  to.inputs.resize(model.inputs.size());
  NamedTensors named(model.inputs, "input");
  for (const auto& tensor : request.inputs()) {
    const std::size_t index = named.add(tensor.name());
    const std::span shape(tensor.shape().data(), static_cast<std::size_t>(tensor.shape_size()));
    check_parameters(tensor.parameters(), ParametersOf::kInput);
    const TensorInfo input = requested_input(model, model.inputs[index], tensor.datatype(), shape);
    if (model.most_images > 1) to.images = static_cast<std::size_t>(input.shape[0]);
    to.inputs[index] = {.data = nullptr, .dtype = input.dtype, .shape = input.shape};
    if (auto region = region_in(tensor.parameters(), regions, input.name)) {
      if (tensor.has_contents()) refuse_message("'{}' is in shared memory, and has contents, too", input.name);
      to.region_inputs.add(index, input, std::move(*region));
      continue;
    }
    if (is_raw && tensor.has_contents()) refuse_message("'{}' has both contents and raw_input_contents", input.name);
    if (!is_raw && !tensor.has_contents())
      refuse_message("'{}' has neither contents nor raw_input_contents", input.name);
    to.inputs[index].data =
        is_raw ? raw_elements(input, request.raw_input_contents(raw++)) : contents_of(input, tensor.contents(), to);
  }
  named.check_complete();
}

void read_outputs(const Signature& model, const MemoryRegions& regions, const ModelInferRequest& request,
                  InferMessage& to) {
  if (request.outputs_size() == 0)
    for (std::size_t i = 0; i < model.outputs.size(); ++i) to.outputs.push_back({i, std::nullopt});
  NamedTensors named(model.outputs, "output");
  for (const auto& tensor : request.outputs()) {
    const std::size_t index = named.add(tensor.name());
    check_parameters(tensor.parameters(), ParametersOf::kOutput);
    if (tensor.parameters().contains("classification")) refuse_message("{}", kNoClassification);
    to.outputs.push_back({index, region_in(tensor.parameters(), regions, model.outputs[index].name)});
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

bool is_short(const ModelInferRequest& request) { return request.raw_input_contents_size() >= request.inputs_size(); }

InferMessage parse_infer_message(const Signature& model, const MemoryRegions& regions,
                                 const ModelInferRequest& request) {
  InferMessage parsed;
  check_parameters(request.parameters(), ParametersOf::kRequest);
  parsed.timeout = timeout_in(request);
  read_inputs(model, regions, request, parsed);
  read_outputs(model, regions, request, parsed);
  check_apart(model, parsed.outputs);
  parsed.outputs_on_device = outputs_on_device(model, parsed.outputs);
  return parsed;
}

grpc::ByteBuffer response_to(const Signature& model, const ModelInferRequest& request, const InferMessage& parsed,
                             std::span<const OutputBuffer> outputs) {
  inference::ModelInferResponse response;
  response.set_model_name(text_of(model.name));
  response.set_model_version(std::string(kVersion));
  response.set_id(request.id());
  for (const auto& [index, region] : parsed.outputs) {
    const OutputBuffer& output = outputs[index];
    auto& tensor = *response.add_outputs();
    tensor.set_name(text_of(model.outputs[index].name));
    tensor.set_datatype(std::string(datatype_of(output.dtype)));
    tensor.mutable_shape()->Add(output.shape.begin(), output.shape.end());
    if (!region) continue;
    const std::size_t bytes = write_output(*region, model.outputs[index].name, output);
    Parameters& parameters = *tensor.mutable_parameters();
    parameters[kRegion].set_string_param(text_of(region->region->info().name));
    parameters[kRegionBytes].set_int64_param(static_cast<std::int64_t>(bytes));
    parameters[kRegionOffset].set_int64_param(static_cast<std::int64_t>(region->offset));
  }
  // The elements are the message's last field. Written behind the others, they need not be copied into it first.
  std::vector<grpc::Slice> slices{grpc::Slice(response.SerializeAsString())};
  for (const auto& [index, region] : parsed.outputs) {
    // Clients count: the element of a tensor has its number.
    const std::size_t bytes = region ? 0 : bytes_of(outputs[index].dtype, outputs[index].shape);
    slices.emplace_back(raw_output_header(bytes));
    slices.emplace_back(outputs[index].data, bytes);
  }
  return {slices.data(), slices.size()};
}

}  // namespace saccade::serve
