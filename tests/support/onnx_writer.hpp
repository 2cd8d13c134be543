#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "saccade/tensor.hpp"

/// Writes small ONNX files from nothing, so that tests need neither protobuf nor Python:
///
///   onnx_writer::Model model(13);
///   model.input("x", {1, "height"}).output("y");
///   model.node({.op = "Squeeze", .inputs = {"x"}, .outputs = {"y"}, .attributes = {onnx_writer::attribute("axes",
///   {0})}}); model.save(file);
namespace saccade::onnx_writer {

/// One protobuf message in wire format. Fields are in the order of the calls.
class Message {
 public:
  Message& integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(int field, float value) {
    key(field, 5);
    raw(&value, sizeof value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  Message& texts(int field, const std::vector<std::string>& values) {
    for (const std::string& value : values) text(field, value);
    return *this;
  }
  Message& integers(int field, std::span<const std::int64_t> values) {
    for (std::int64_t value : values) integer(field, value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, unsigned wire_type) { varint(static_cast<std::uint64_t>(field) << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void raw(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }

  std::string bytes_;
};

/// TensorProto.DataType.
enum DataType : int {
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kUInt4 = 21,
  kInt4 = 22,
};

using Dims = std::vector<std::int64_t>;

/// A TensorProto without elements; add them as fields: 4 float_data, 5 int32_data, 6 string_data, 7 int64_data,
/// 9 raw_data, 10 double_data, 11 uint64_data.
inline Message tensor_head(const std::string& name, int data_type, const Dims& dims) {
  Message tensor;
  tensor.integers(1, dims).integer(2, data_type).text(8, name);
  return tensor;
}

/// A TensorProto of raw bytes.
inline Message raw_tensor(const std::string& name, int data_type, const Dims& dims, std::string_view bytes) {
  return tensor_head(name, data_type, dims).text(9, bytes);
}

/// A TensorProto of float, int64, int32, uint8, int8 or bool VALUES.
template <typename T>
Message tensor(const std::string& name, const Dims& dims, const std::vector<T>& values) {
  constexpr DType dtype = DTypeOf<T>::value;
  constexpr int data_type = dtype == DType::kFloat32 ? kFloat
                            : dtype == DType::kInt64 ? kInt64
                            : dtype == DType::kInt32 ? kInt32
                            : dtype == DType::kUInt8 ? kUInt8
                            : dtype == DType::kInt8  ? kInt8
                                                     : 0;
  static_assert(data_type != 0, "write this type with raw_tensor()");
  return raw_tensor(name, data_type, dims, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

/// A TensorProto with external data.
inline Message external_tensor(const std::string& name, int data_type, const Dims& dims,
                               const std::vector<std::pair<std::string, std::string>>& entries) {
  Message tensor = tensor_head(name, data_type, dims);
  for (const auto& [key, value] : entries) tensor.message(13, Message().text(1, key).text(2, value));
  return tensor.integer(14, 1);
}

// AttributeProto by type. The numbers are AttributeProto.AttributeType.
inline Message attribute(const std::string& name, float value) {
  return Message().text(1, name).real(2, value).integer(20, 1);
}
inline Message attribute(const std::string& name, int value) {
  return Message().text(1, name).integer(3, value).integer(20, 2);
}
inline Message attribute(const std::string& name, const char* value) {
  return Message().text(1, name).text(4, value).integer(20, 3);
}
inline Message attribute(const std::string& name, const Message& tensor) {
  return Message().text(1, name).message(5, tensor).integer(20, 4);
}
inline Message attribute(const std::string& name, const Dims& values) {
  return Message().text(1, name).integers(8, values).integer(20, 7);
}
inline Message attribute(const std::string& name, const std::vector<float>& values) {
  Message message = Message().text(1, name);
  for (float value : values) message.real(7, value);
  return message.integer(20, 6);
}
inline Message attribute(const std::string& name, const std::vector<std::string>& values) {
  return Message().text(1, name).texts(9, values).integer(20, 8);
}
inline Message graph_attribute(const std::string& name, const Message& graph) {
  return Message().text(1, name).message(6, graph).integer(20, 5);
}
/// In a function's body: the value of the call's attribute OUTER. KIND is AttributeProto.AttributeType.
inline Message attribute_reference(const std::string& name, const std::string& outer, int kind) {
  return Message().text(1, name).text(21, outer).integer(20, kind);
}

struct Node {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Message> attributes;
  std::string name;
  std::string domain;
  std::string overload;

  Message message() const {
    Message node;
    node.texts(1, inputs).texts(2, outputs).text(3, name).text(4, op);
    for (const Message& attribute : attributes) node.message(5, attribute);
    if (!domain.empty()) node.text(7, domain);
    if (!overload.empty()) node.text(8, overload);
    return node;
  }
};

inline Message opset_id(const std::string& domain, std::int64_t version) {
  return Message().text(1, domain).integer(2, version);
}

struct Function {
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Node> nodes;
  std::vector<std::string> attributes;  ///< names of required attributes
  std::vector<Message> defaults;        ///< defaults of optional attributes
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  std::string overload;

  Message message() const {
    Message function;
    function.text(1, name).texts(4, inputs).texts(5, outputs).texts(6, attributes);
    for (const Node& node : nodes) function.message(7, node.message());
    for (const auto& [import_domain, version] : opsets) function.message(9, opset_id(import_domain, version));
    function.text(10, domain);
    for (const Message& attribute : defaults) function.message(11, attribute);
    if (!overload.empty()) function.text(13, overload);
    return function;
  }
};

/// A size, or the name of a symbolic dimension ("" for an unnamed one).
using Dim = std::variant<int, const char*>;

/// A ValueInfoProto of tensor type.
inline Message value_info(const std::string& name, const std::vector<Dim>& dims, int data_type = kFloat) {
  Message shape;
  for (const Dim& dim : dims) {
    Message one;
    if (const int* size = std::get_if<int>(&dim)) one.integer(1, *size);
    if (const auto* symbol = std::get_if<const char*>(&dim); symbol != nullptr && **symbol != 0) one.text(2, *symbol);
    shape.message(1, one);
  }
  const Message type = Message().integer(1, data_type).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, type));
}

/// A ValueInfoProto of tensor type and unknown rank.
inline Message value_info_without_shape(const std::string& name, int data_type = kFloat) {
  return Message().text(1, name).message(2, Message().message(1, Message().integer(1, data_type)));
}

/// A ModelProto under construction.
class Model {
 public:
  explicit Model(std::int64_t opset, std::int64_t ir_version = 8) : ir_version_(ir_version) {
    model_.message(8, opset_id("", opset));
  }

  Model& opset(const std::string& domain, std::int64_t version) {
    model_.message(8, opset_id(domain, version));
    return *this;
  }
  Model& input(const std::string& name, const std::vector<Dim>& dims, int data_type = kFloat) {
    return input(value_info(name, dims, data_type));
  }
  Model& input(const Message& info) {
    graph_.message(11, info);
    return *this;
  }
  Model& output(const std::string& name) {
    graph_.message(12, Message().text(1, name));
    return *this;
  }
  Model& node(const Node& node) {
    graph_.message(1, node.message());
    return *this;
  }
  Model& initializer(const Message& tensor) {
    graph_.message(5, tensor);
    return *this;
  }
  Model& sparse_initializer(const Message& values, const Message& indices, const Dims& dims) {
    graph_.message(15, Message().message(1, values).message(2, indices).integers(3, dims));
    return *this;
  }
  Model& function(const Function& function) {
    model_.message(25, function.message());
    return *this;
  }
  Model& metadata(const std::string& key, const std::string& value) {
    model_.message(14, Message().text(1, key).text(2, value));
    return *this;
  }

  const Message& graph() const { return graph_; }
  /// The file's contents; the IR version comes first, as in every exporter's files.
  std::string bytes() const {
    return Message().integer(1, ir_version_).bytes() + model_.bytes() + Message().message(7, graph_).bytes();
  }
  void save(const std::filesystem::path& path) const { std::ofstream(path, std::ios::binary) << bytes(); }

 private:
  std::int64_t ir_version_;
  Message model_;
  Message graph_;
};

}  // namespace saccade::onnx_writer
