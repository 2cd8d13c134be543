#include "onnx/input_shapes.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/error.hpp"
#include "onnx/tensors.hpp"
#include "tensor/view.hpp"

namespace saccade {
namespace {

using Dimension = onnx::TensorShapeProto::Dimension;

/// Some exporters write an unknown size as -1.
bool is_fixed(const Dimension& dim) { return dim.has_dim_value() && dim.dim_value() >= 0; }

/// The name of a dimension that is the same wherever it stands; empty: none. paddle2onnx writes "?" for every unknown
/// size.
std::string symbol_of(const Dimension& dim) { return dim.dim_param() == "?" ? std::string() : dim.dim_param(); }

const onnx::TensorShapeProto& shape_of(const onnx::ValueInfoProto& input) { return input.type().tensor_type().shape(); }

/// "[1, 3, height, ?]": the shape as declared in the file.
std::string declared(const onnx::ValueInfoProto& input) {
  std::vector<std::string> dims;
  for (const Dimension& dim : shape_of(input).dim())
    dims.push_back(is_fixed(dim) ? fmt::to_string(dim.dim_value()) : symbol_of(dim).empty() ? "?" : symbol_of(dim));
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

std::string names_of(const std::vector<const onnx::ValueInfoProto*>& inputs) {
  std::vector<std::string> names;
  for (const auto* input : inputs) names.push_back(fmt::format("'{}' {}", input->name(), declared(*input)));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::set<std::string> symbols_of(const std::vector<const onnx::ValueInfoProto*>& inputs) {
  std::set<std::string> symbols;
  for (const auto* input : inputs)
    for (const Dimension& dim : shape_of(*input).dim())
      if (!symbol_of(dim).empty()) symbols.insert(symbol_of(dim));
  return symbols;
}

}  // namespace

std::vector<const onnx::ValueInfoProto*> inputs_of(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) initializers.insert(sparse.values().name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input())
    if (!initializers.contains(input.name())) inputs.push_back(&input);
  return inputs;
}

InputShapes::InputShapes(std::vector<const onnx::ValueInfoProto*> inputs, const ImportOptions& options)
    : inputs_(std::move(inputs)), shapes_(options.shapes) {
  if (auto unnamed = shapes_.extract(""); unnamed) {
    if (inputs_.size() != 1)
      fail(ErrorCode::kInvalidArgument, "a shape is given without the name of an input; the inputs are {}",
           names_of(inputs_));
    unnamed.key() = inputs_[0]->name();
    shapes_.insert(std::move(unnamed));
  }
  for (const auto& [name, shape] : shapes_) {
    const auto input = std::ranges::find(inputs_, name, [](const auto* info) { return info->name(); });
    if (input == inputs_.end())
      fail(ErrorCode::kInvalidArgument, "a shape is given for '{}', which is not an input; the inputs are {}", name,
           names_of(inputs_));
    bind_shape(**input, shape);
  }
  const std::set<std::string> symbols = symbols_of(inputs_);
  for (const auto& [symbol, size] : options.dimensions) {
    if (!symbols.contains(symbol))
      fail(ErrorCode::kInvalidArgument, "a size is given for the dimension '{}', which no input has; the inputs are {}",
           symbol, names_of(inputs_));
    bind(symbol, size);
  }
}

void InputShapes::bind(const std::string& symbol, std::int64_t size) {
  if (size < 0) fail(ErrorCode::kInvalidArgument, "the dimension '{}' can't be {}", symbol, size);
  const auto [bound, is_new] = sizes_.emplace(symbol, size);
  if (!is_new && bound->second != size)
    fail(ErrorCode::kInvalidArgument, "the dimension '{}' can't be both {} and {}", symbol, bound->second, size);
}

void InputShapes::bind_shape(const onnx::ValueInfoProto& input, const std::vector<std::int64_t>& shape) {
  const auto conflict = [&](std::string_view why) {
    fail(ErrorCode::kInvalidArgument, "the input '{}' is {} and can't be given the shape {}: {}", input.name(),
         declared(input), fmt::join(shape, "x"), why);
  };
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; })) conflict("a size is negative");
  if (!input.type().tensor_type().has_shape()) return;
  const auto& dims = shape_of(input).dim();
  if (static_cast<std::size_t>(dims.size()) != shape.size())
    conflict(fmt::format("it has {} dimensions, not {}", dims.size(), shape.size()));
  for (int i = 0; i < dims.size(); ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(i)];
    if (is_fixed(dims[i]) && dims[i].dim_value() != size)
      conflict(fmt::format("the model fixes dimension {} at {}; export it with dynamic axes", i, dims[i].dim_value()));
    if (!symbol_of(dims[i]).empty()) bind(symbol_of(dims[i]), size);
  }
}

TensorType InputShapes::type_of(const onnx::ValueInfoProto& input) const {
  try {
    if (!input.type().has_tensor_type())
      fail(input.has_type() ? ErrorCode::kUnsupported : ErrorCode::kInvalidFile,
           "it is not a tensor; only tensors are supported");
    const TensorType type{dtype_of(input.type().tensor_type().elem_type()), bound_shape(input)};
    bytes_of(type.dtype, type.shape);
    return type;
  } catch (const Error& error) {
    throw error.in(fmt::format("input '{}'", input.name()));
  }
}

Shape InputShapes::bound_shape(const onnx::ValueInfoProto& input) const {
  if (const auto given = shapes_.find(input.name()); given != shapes_.end()) return Shape(given->second);
  if (!input.type().tensor_type().has_shape())
    fail(ErrorCode::kInvalidArgument, "the file does not define its shape; give it: --shape {}=1x3x...", input.name());
  Shape shape;
  for (const Dimension& dim : shape_of(input).dim()) {
    const auto bound = sizes_.find(dim.dim_param());
    shape.push_back(is_fixed(dim) ? dim.dim_value() : bound != sizes_.end() ? bound->second : 1);
  }
  return shape;
}

std::string InputShapes::hint() const {
  for (const auto* input : inputs_) {
    if (shapes_.contains(input->name())) continue;
    const auto open = [&](const Dimension& dim) { return !is_fixed(dim) && !sizes_.contains(dim.dim_param()); };
    if (std::ranges::any_of(shape_of(*input).dim(), open))
      return fmt::format(" (dynamic dimensions of the input '{}', {}, were set to 1; give them: --shape {}=...)",
                         input->name(), declared(*input), input->name());
  }
  return {};
}

}  // namespace saccade
