#include "serve/infer_request.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "serve/json_request.hpp"
#include "serve/parameters.hpp"
#include "serve/protocol.hpp"
#include "serve/replies.hpp"
#include "serve/tensor_json.hpp"

namespace saccade::serve {
namespace {

using nlohmann::json;

/// How much of the body is JSON; the rest is binary tensors.
std::size_t json_bytes(const HttpRequest& request) {
  const std::string_view given = request.header(kJsonLength);
  if (given.empty()) return request.body.size();
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), bytes);
  if (error != std::errc() || end != given.data() + given.size() || bytes > request.body.size())
    refuse("{} is '{}', and the body has {} bytes", kJsonLength, given, request.body.size());
  return bytes;
}

std::string name_of(const json& tensor) {
  if (!tensor.is_object()) refuse("a tensor is no object");
  const json* name = member(tensor, "name", &json::is_string, "string");
  if (name == nullptr) refuse("a tensor has no name");
  return name->get<std::string>();
}

/// Throws Error (kInvalidArgument) if OBJECT has a parameter that is not known.
void check_parameters(const json& object, ParametersOf of) {
  if (const json* parameters = member(object, "parameters", &json::is_object, "object"))
    for (const auto& [name, value] : parameters->items()) check_parameter(name, of);
}

/// Where TENSOR is in shared memory; nullopt if it is not.
std::optional<RegionTensor> region_of(const json& tensor, std::string_view name, const MemoryRegions& regions) {
  const json* parameters = member(tensor, "parameters", &json::is_object, "object");
  if (parameters == nullptr) return std::nullopt;
  RegionParameters given{.region = std::nullopt,
                         .bytes = byte_count(*parameters, kRegionBytes),
                         .offset = byte_count(*parameters, kRegionOffset)};
  if (const json* region = member(*parameters, kRegion, &json::is_string, "string"))
    given.region = region->get<std::string>();
  return regions.find(given, name);
}

/// INPUT with TENSOR's shape.
TensorInfo requested(const Signature& model, const json& tensor, const TensorInfo& input) {
  const json* datatype = member(tensor, "datatype", &json::is_string, "string");
  const json* sides = member(tensor, "shape", &json::is_array, "array");
  if (sides == nullptr) refuse("the shape of '{}' is missing", input.name);
  std::vector<std::int64_t> shape;
  for (const json& side : *sides) {
    if (!side.is_number_integer()) refuse("the shape of '{}' holds {}", input.name, brief(side.dump()));
    shape.push_back(side.get<std::int64_t>());
  }
  return requested_input(model, input, datatype == nullptr ? "" : datatype->get<std::string>(), shape);
}

/// The elements of TENSOR; takes those in binary form off BINARY.
const void* elements_of(const json& tensor, const TensorInfo& input, std::string_view& binary, InferRequest& to) {
  const json* size = parameter(tensor, "binary_data_size");
  const auto data = tensor.find("data");
  if ((size == nullptr) == (data == tensor.end()))
    refuse("'{}' has {} data and binary_data_size", input.name, size == nullptr ? "neither" : "both");
  if (size == nullptr) return to.elements.emplace_back(elements_from(*data, input)).data();
  const auto bytes = static_cast<std::size_t>(input.shape.elements()) * bits_of(input.dtype) / 8;
  if (!size->is_number_unsigned() || size->get<std::uint64_t>() != bytes)
    refuse("the binary_data_size of '{}' is {}, not {}", input.name, bytes, brief(size->dump()));
  if (bytes > binary.size())
    refuse("'{}' has {} bytes, and the body {} after the JSON and the tensors before", input.name, bytes,
           binary.size());
  const std::string_view at = binary.substr(0, bytes);
  binary.remove_prefix(bytes);
  check_elements(input, at);
  return at.data();
}

void read_inputs(const Signature& model, const MemoryRegions& regions, const json& request, std::string_view binary,
                 InferRequest& to) {
  const json* tensors = member(request, "inputs", &json::is_array, "array");
  if (tensors == nullptr) refuse("there are no inputs");
  to.inputs.resize(model.inputs.size());
  NamedTensors named(model.inputs, "input");
  for (const json& tensor : *tensors) {
    const std::size_t index = named.add(name_of(tensor));
    check_parameters(tensor, ParametersOf::kInput);
    const TensorInfo input = requested(model, tensor, model.inputs[index]);
    if (model.most_images > 1) to.images = static_cast<std::size_t>(input.shape[0]);
    to.inputs[index] = {.data = nullptr, .dtype = input.dtype, .shape = input.shape};
    auto region = region_of(tensor, input.name, regions);
    if (!region) {
      to.inputs[index].data = elements_of(tensor, input, binary, to);
      continue;
    }
    if (tensor.contains("data") || parameter(tensor, "binary_data_size") != nullptr)
      refuse("'{}' is in shared memory, and in the request too", input.name);
    to.region_inputs.add(index, input, std::move(*region));
  }
  named.check_complete();
  if (!binary.empty()) refuse("{} bytes follow the last tensor", binary.size());
}

void read_outputs(const Signature& model, const MemoryRegions& regions, const json& request, InferRequest& to) {
  const bool is_binary = flag(request, "binary_data_output", false);
  const json* wanted = member(request, "outputs", &json::is_array, "array");
  if (wanted == nullptr || wanted->empty()) {
    for (std::size_t i = 0; i < model.outputs.size(); ++i) to.outputs.push_back({i, is_binary, std::nullopt});
    return;
  }
  NamedTensors named(model.outputs, "output");
  for (const json& tensor : *wanted) {
    const std::size_t index = named.add(name_of(tensor));
    check_parameters(tensor, ParametersOf::kOutput);
    if (parameter(tensor, "classification") != nullptr) refuse("{}", kNoClassification);
    to.outputs.push_back(
        {index, flag(tensor, "binary_data", is_binary), region_of(tensor, model.outputs[index].name, regions)});
  }
}

void check_outputs(const Signature& model, const InferRequest& request) {
  for (const auto& [index, is_binary, region] : request.outputs) {
    const TensorInfo& output = model.outputs[index];
    if (!region && !is_binary && !has_json(output.dtype))
      refuse("'{}' is {}, which has no form in JSON: ask for it with binary_data", output.name,
             datatype_of(output.dtype));
  }
}

}  // namespace

InferRequest parse_infer_request(const Signature& model, const MemoryRegions& regions, HttpRequest request) {
  InferRequest infer;
  const std::size_t length = json_bytes(request);
  infer.body = std::move(request.body);
  const std::string_view body = infer.body;
  const json parsed = parse_object(body.substr(0, length));
  check_parameters(parsed, ParametersOf::kRequest);
  if (const json* id = member(parsed, "id", &json::is_string, "string")) infer.id = id->get<std::string>();
  if (const json* timeout = parameter(parsed, "timeout")) {
    if (!timeout->is_number_unsigned()) refuse("the parameter 'timeout' is no number of microseconds");
    infer.timeout = timeout_of(timeout->get<std::uint64_t>());
  }
  read_inputs(model, regions, parsed, body.substr(length), infer);
  read_outputs(model, regions, parsed, infer);
  check_outputs(model, infer);
  check_apart(model, infer.outputs);
  infer.outputs_on_device = outputs_on_device(model, infer.outputs);
  return infer;
}

HttpReply infer_reply(const Signature& model, const InferRequest& request, std::span<const OutputBuffer> outputs) {
  json response{{"model_name", model.name}, {"model_version", kVersion}, {"outputs", json::array()}};
  if (!request.id.empty()) response["id"] = request.id;
  std::size_t binary_bytes = 0;
  const auto elements_in = [](const OutputBuffer& output) {
    return std::span(static_cast<const std::byte*>(output.data),
                     static_cast<std::size_t>(output.shape.elements()) * bits_of(output.dtype) / 8);
  };
  for (const auto& [index, is_binary, region] : request.outputs) {
    const OutputBuffer& output = outputs[index];
    json tensor{{"name", model.outputs[index].name},
                {"datatype", datatype_of(output.dtype)},
                {"shape", std::vector(output.shape.begin(), output.shape.end())}};
    const auto elements = elements_in(output);
    if (region) {
      const std::size_t bytes = write_output(*region, model.outputs[index].name, output);
      tensor["parameters"] = {
          {kRegion, region->region->info().name}, {kRegionBytes, bytes}, {kRegionOffset, region->offset}};
    } else if (is_binary) {
      tensor["parameters"]["binary_data_size"] = elements.size();
      binary_bytes += elements.size();
    } else {
      tensor["data"] = to_json(elements, output.dtype);
    }
    response["outputs"].push_back(std::move(tensor));
  }
  HttpReply reply = json_reply(response);
  if (binary_bytes == 0) return reply;
  reply.type = "application/octet-stream";
  reply.headers.emplace_back(kJsonLength, std::to_string(reply.body.size()));
  reply.body.reserve(reply.body.size() + binary_bytes);
  for (const auto& [index, is_binary, region] : request.outputs)
    if (is_binary && !region) {
      const auto elements = elements_in(outputs[index]);
      reply.body.append(reinterpret_cast<const char*>(elements.data()), elements.size());
    }
  return reply;
}

}  // namespace saccade::serve
