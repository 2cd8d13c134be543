#include "onnx/external_data.hpp"

#include <charconv>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// The location of a tensor's external data.
struct Place {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

std::uint64_t number(const std::string& key, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    fail(ErrorCode::kInvalidFile, "its external data has the {} '{}', which is not a number", key, text);
  return value;
}

Place place_of(const onnx::TensorProto& tensor) {
  Place place;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = number("offset", entry.value());
    if (entry.key() == "length") place.length = number("length", entry.value());
  }
  if (place.location.empty()) fail(ErrorCode::kInvalidFile, "its external data has no location");
  return place;
}

using ActOnTensor = std::function<void(const onnx::TensorProto&)>;

void for_each_tensor(const onnx::GraphProto& graph, const ActOnTensor& act);

void for_each_tensor(const onnx::SparseTensorProto& sparse, const ActOnTensor& act) {
  act(sparse.values());
  act(sparse.indices());
}

template <typename Nodes>
void for_each_tensor_of(const Nodes& nodes, const ActOnTensor& act) {
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_t()) act(attribute.t());
      for (const onnx::TensorProto& tensor : attribute.tensors()) act(tensor);
      if (attribute.has_sparse_tensor()) for_each_tensor(attribute.sparse_tensor(), act);
      for (const onnx::SparseTensorProto& sparse : attribute.sparse_tensors()) for_each_tensor(sparse, act);
      if (attribute.has_g()) for_each_tensor(attribute.g(), act);
      for (const onnx::GraphProto& graph : attribute.graphs()) for_each_tensor(graph, act);
    }
  }
}

void for_each_tensor(const onnx::GraphProto& graph, const ActOnTensor& act) {
  for (const onnx::TensorProto& tensor : graph.initializer()) act(tensor);
  for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) for_each_tensor(sparse, act);
  for_each_tensor_of(graph.node(), act);
}

}  // namespace

ExternalData::ExternalData(const fs::path& model) : beside_(model) {}

fs::path ExternalData::resolve(const std::string& location) const {
  std::optional<fs::path> found;
  try {
    found = beside_.find(location);
  } catch (const Error& error) {
    fail(error.code(), "its data file {}", error.what());
  }
  if (!found)
    fail(ErrorCode::kInvalidFile, "its external data is in '{}', outside the model's folder: refused", location);
  return *found;
}

void ExternalData::check(const onnx::TensorProto& tensor, std::size_t size) const {
  const Place place = place_of(tensor);
  const fs::path path = resolve(place.location);
  std::error_code error;
  if (fs::status(path, error).type() == fs::file_type::not_found)
    fail(ErrorCode::kNotFound, "its data file '{}' is missing; put it beside the model", path.string());
  try {
    check_input(path);
  } catch (const Error& refused) {
    fail(refused.code(), "its data file {}", refused.what());
  }
  const std::uint64_t available = fs::file_size(path, error);
  if (error) fail(ErrorCode::kIo, "its data file '{}' can't be read: {}", path.string(), error.message());
  if (place.length && *place.length != size)
    fail(ErrorCode::kInvalidFile, "it needs {} bytes, but its external data has {} bytes", size, *place.length);
  if (place.offset > available || available - place.offset < size)
    fail(ErrorCode::kInvalidFile, "its data file '{}' is too short: {} bytes at {} are needed, the file has {}",
         path.string(), size, place.offset, available);
}

void ExternalData::read(const onnx::TensorProto& tensor, std::span<std::byte> into) const {
  const Place place = place_of(tensor);
  const fs::path path = resolve(place.location);
  std::ifstream file = open_input(path);
  file.seekg(static_cast<std::streamoff>(place.offset));
  file.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
  if (!file) fail(ErrorCode::kIo, "its data file '{}' can't be read", path.string());
}

std::set<fs::path> ExternalData::files_of(const onnx::ModelProto& model) const {
  std::set<fs::path> files;
  const auto add = [&](const onnx::TensorProto& tensor) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) files.insert(resolve(place_of(tensor).location));
  };
  for_each_tensor(model.graph(), add);
  for (const onnx::FunctionProto& function : model.functions()) for_each_tensor_of(function.node(), add);
  return files;
}

}  // namespace saccade
