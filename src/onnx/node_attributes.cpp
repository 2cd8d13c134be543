#include "onnx/node_attributes.hpp"

#include "base/error.hpp"

namespace saccade {
namespace {

using onnx::AttributeProto;

/// The attribute's type; files of the first IR versions omit the field.
AttributeProto::AttributeType kind_of(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.has_g()) return AttributeProto::GRAPH;
  if (attribute.floats_size() != 0) return AttributeProto::FLOATS;
  if (attribute.strings_size() != 0) return AttributeProto::STRINGS;
  return AttributeProto::INTS;
}

Attribute read_attribute(const AttributeProto& attribute, const TensorSource& source) {
  switch (kind_of(attribute)) {
    case AttributeProto::FLOAT: return attribute.f();
    case AttributeProto::INT: return attribute.i();
    case AttributeProto::STRING: return attribute.s();
    case AttributeProto::TENSOR: return read_tensor(attribute.t(), source);
    case AttributeProto::FLOATS: return std::vector<float>(attribute.floats().begin(), attribute.floats().end());
    case AttributeProto::INTS: return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case AttributeProto::GRAPH:
    case AttributeProto::GRAPHS: fail(ErrorCode::kUnsupported, "it is a sub-graph, which is not supported");
    default: fail(ErrorCode::kUnsupported, "attributes of type {} are not supported", attribute.type());
  }
}

template <typename T, typename Values>
Tensor make_vector(const Values& values) {
  return Tensor::of<T>(Shape{values.size()},
                       std::span<const T>(values.data(), static_cast<std::size_t>(values.size())));
}

Tensor string_tensor(const Shape& shape, const std::string* values) {
  Tensor tensor(DType::kString, shape);
  std::copy_n(values, shape.elements(), tensor.strings().begin());
  return tensor;
}

}  // namespace

NamedAttributes resolve_attributes(const onnx::NodeProto& node, const Arguments& arguments) {
  NamedAttributes resolved;
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      resolved.emplace_back(attribute.name(), &attribute);
    } else if (const auto found = arguments.find(attribute.ref_attr_name()); found != arguments.end()) {
      resolved.emplace_back(attribute.name(), found->second);
    }
  }
  return resolved;
}

Attributes read_attributes(const NamedAttributes& attributes, const TensorSource& source) {
  Attributes read;
  for (const auto& [name, attribute] : attributes) {
    try {
      if (read.has(name)) fail(ErrorCode::kInvalidFile, "it is given twice");
      read.set(name, read_attribute(*attribute, source));
    } catch (const Error& error) {
      throw error.in(fmt::format("attribute '{}'", name));
    }
  }
  return read;
}

Tensor read_constant(const NamedAttributes& attributes, const TensorSource& source) {
  if (attributes.size() != 1)
    fail(ErrorCode::kInvalidFile, "a Constant has one attribute, its value; this one has {}", attributes.size());
  const auto& [name, value] = attributes.front();
  if (name == "value" && value->has_t()) return read_tensor(value->t(), source);
  if (name == "sparse_value" && value->has_sparse_tensor()) return read_sparse_tensor(value->sparse_tensor(), source);
  if (name == "value_float") return Tensor::scalar(value->f());
  if (name == "value_int") return Tensor::scalar<std::int64_t>(value->i());
  if (name == "value_string") return string_tensor(Shape{}, &value->s());
  if (name == "value_floats") return make_vector<float>(value->floats());
  if (name == "value_ints") return make_vector<std::int64_t>(value->ints());
  if (name == "value_strings") {
    const std::vector<std::string> strings(value->strings().begin(), value->strings().end());
    return string_tensor(Shape{value->strings_size()}, strings.data());
  }
  fail(ErrorCode::kInvalidFile, "a Constant can't have its value in the attribute '{}'", name);
}

}  // namespace saccade
