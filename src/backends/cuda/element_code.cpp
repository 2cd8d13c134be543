#include "cuda/element_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "cuda/element_functions.hpp"
#include "ops/values.hpp"

namespace saccade::cuda {
namespace {

constexpr unsigned kThreads = 256;

struct TypeNames {
  DType dtype;
  std::string_view storage;
  std::string_view compute;
};

constexpr TypeNames kTypes[] = {
    {DType::kFloat32, "float", "float"},     {DType::kFloat16, "float16", "float"},
    {DType::kBFloat16, "bfloat16", "float"}, {DType::kFloat64, "double", "double"},
    {DType::kInt8, "int8", "int8"},          {DType::kUInt8, "uint8", "uint8"},
    {DType::kInt16, "int16", "int16"},       {DType::kUInt16, "uint16", "uint16"},
    {DType::kInt32, "int32", "int32"},       {DType::kUInt32, "uint32", "uint32"},
    {DType::kInt64, "int64", "int64"},       {DType::kUInt64, "uint64", "uint64"},
    {DType::kBool, "uint8", "bool"},
};

const TypeNames& names_of(DType dtype) {
  const auto found = std::ranges::find(kTypes, dtype, &TypeNames::dtype);
  if (found == std::end(kTypes)) fail(ErrorCode::kUnsupported, "kernels read no {}", to_string(dtype));
  return *found;
}

/// The only element of a constant, as a literal; empty where it is none, or of another type.
std::string scalar_literal(const Tensor* constant) {
  if (constant == nullptr || constant->elements() != 1) return {};
  switch (constant->dtype()) {
    case DType::kFloat32: return literal(constant->data<float>()[0]);
    case DType::kInt32: return fmt::format("int32({})", constant->data<std::int32_t>()[0]);
    default: return {};
  }
}

}  // namespace

std::string_view storage_name(DType dtype) { return names_of(dtype).storage; }
std::string_view compute_name(DType dtype) { return names_of(dtype).compute; }

std::string literal(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  // Hexadecimal: every bit, and no digits too many.
  return fmt::format("{}{:a}f{}", std::signbit(value) ? "(" : "", value, std::signbit(value) ? ")" : "");
}

std::string wrapped(const std::string& expression) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return std::ranges::all_of(expression, is_word) ? expression : "(" + expression + ")";
}

int own_inputs(const NodeContext& context) {
  int count = context.input_count();
  for (const PostOp& post : context.node.post_ops)
    if (post.operand >= 0) count = std::min(count, post.operand);
  return count;
}

std::string offset_of(const Index& at, const Shape& shape, Layout layout) {
  return offset_of(at, shape, dense_strides(shape, layout));
}

std::string offset_of(const Index& at, const Shape& shape, const Shape& strides) {
  std::string sum;
  for (int i = 0; i < shape.rank(); ++i) {
    const std::string& index = at[static_cast<std::size_t>(i)];
    if (shape[i] == 1 || index == "0") continue;
    if (!sum.empty()) sum += " + ";
    sum += strides[i] == 1 ? wrapped(index) : fmt::format("{} * {}", wrapped(index), strides[i]);
  }
  return sum.empty() ? "0" : sum;
}

Index broadcast_index(const Index& at, const Shape& shape) {
  Index own(at.end() - shape.rank(), at.end());
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] == 1) own[static_cast<std::size_t>(i)] = "0";
  return own;
}

std::string ElementCode::buffer(int i) {
  if (std::ranges::find(reads_, i) == reads_.end()) reads_.push_back(i);
  return fmt::format("in{}", i);
}

std::string ElementCode::input_at_offset(int i, const std::string& offset) {
  const std::string element = fmt::format("{}[{}]", buffer(i), offset);
  const DType dtype = context_.input(i).type.dtype;
  return dtype == DType::kBool ? fmt::format("({} != 0)", element) : fmt::format("widen({})", element);
}

std::string ElementCode::input(int i, const Index& at) {
  if (std::string value = scalar_literal(context_.constant(i)); !value.empty()) return value;
  return input_at_offset(i, offset_of(at, context_.input(i).type.shape, context_.input_place(i).strides));
}

std::string ElementCode::broadcast(int i, const Index& at) {
  return input(i, broadcast_index(at, context_.input(i).type.shape));
}

std::string ElementCode::table(std::string_view type, std::vector<std::byte> bytes) {
  tables_.push_back(std::move(bytes));
  table_types_.emplace_back(type);
  return fmt::format("table{}", tables_.size() - 1);
}

std::string ElementCode::fault(std::int64_t dim) {
  indexed_.push_back(dim);
  return fmt::format("faults + {}", indexed_.size() - 1);
}

std::string ElementCode::let(std::string_view type, const std::string& expression) {
  std::string name = fresh();
  line(fmt::format("const {} {} = {};", type, name, expression));
  return name;
}

std::string ElementCode::post_ops(std::string x, const OperandRule& operand) {
  for (const PostOp& post : node().post_ops) {
    x = let("float", x);
    if (post.operand < 0)
      x = unary_post_op(post, x);
    else
      x = fmt::format("{} {} {}", x, post.op == "Add" ? "+" : "*", operand(post.operand));
  }
  return x;
}

std::string ElementCode::post_ops(std::string x, const std::string& offset) {
  return post_ops(std::move(x), [&](int operand) { return input_at_offset(operand, offset); });
}

std::string ElementCode::post_ops(std::string x, const Index& at) {
  return post_ops(std::move(x), [&](int operand) { return input(operand, at); });
}

std::string ElementCode::parameters() const {
  std::string list;
  const auto add = [&](std::string_view type, std::string_view name) {
    list += fmt::format("{}const {}* __restrict__ {}", list.empty() ? "" : ", ", type, name);
  };
  for (int i : reads_) add(storage_name(context_.input(i).type.dtype), fmt::format("in{}", i));
  for (std::size_t i = 0; i < tables_.size(); ++i) add(table_types_[i], fmt::format("table{}", i));
  if (!indexed_.empty()) list += fmt::format("{}volatile int64* faults", list.empty() ? "" : ", ");
  return list;
}

std::vector<Argument> ElementCode::arguments() const {
  std::vector<Argument> list;
  for (int i : reads_) list.push_back({Argument::Kind::kInput, static_cast<std::size_t>(i)});
  for (std::size_t i = 0; i < tables_.size(); ++i) list.push_back({Argument::Kind::kPacked, i});
  if (!indexed_.empty()) list.push_back({Argument::Kind::kFaults, 0});
  return list;
}

void ElementCode::hand_over(KernelCall& call, int output, NodeProgram& program) {
  call.arguments = arguments();
  for (Argument& argument : call.arguments) {
    if (argument.kind == Argument::Kind::kPacked) argument.index += program.packed.size();
    if (argument.kind == Argument::Kind::kFaults) argument.index += program.indexed.size();
  }
  call.arguments.push_back({Argument::Kind::kOutput, static_cast<std::size_t>(output)});
  for (auto& table : tables_) program.packed.push_back(std::move(table));
  program.indexed.insert(program.indexed.end(), indexed_.begin(), indexed_.end());
}

Index declare_index(ElementCode& code, const std::string& offset, const Shape& shape, Layout layout) {
  const Shape strides = dense_strides(shape, layout);
  std::vector<int> order(static_cast<std::size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int i) { return strides[i]; });
  Index at(order.size(), "0");
  std::string rest = offset;
  for (std::size_t place = order.size(); place-- > 0;) {
    const int i = order[place];
    if (shape[i] == 1) continue;
    const bool last = std::all_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(place),
                                  [&](int outer) { return shape[outer] == 1; });
    at[static_cast<std::size_t>(i)] = last ? rest : code.let("int32", fmt::format("{} % {}", rest, shape[i]));
    if (!last) rest = code.let("int32", fmt::format("{} / {}", rest, shape[i]));
  }
  return at;
}

KernelCall element_kernel(const NodeContext& context, int output, const ElementRule& element, NodeProgram& program) {
  const Value& to = context.output(output);
  const std::int64_t elements = to.type.shape.elements();
  if (elements >= kMaxElements)
    fail(ErrorCode::kUnsupported, "an output of {} elements; a kernel makes up to {}", elements, kMaxElements - 1);
  ElementCode code(context);
  const Index at = declare_index(code, "at", to.type.shape, to.layout);
  const std::string element_at = element(code, output, at);
  const bool dense = !context.shares_memory();
  const std::string value = dense ? code.post_ops(element_at, "at") : code.post_ops(element_at, at);
  const std::string place = dense ? "at" : offset_of(at, to.type.shape, context.output_place(output).strides);
  const std::string_view stored = storage_name(to.type.dtype);
  std::string parameters = code.parameters();
  if (!parameters.empty()) parameters += ", ";
  KernelCall call{.name = "elements"};
  call.source = fmt::format(R"(#include "elements.cuh"
extern "C" __global__ void __launch_bounds__({}) elements({}{}* __restrict__ out) {{
  begin_kernel();
  const int32 at = blockIdx.x * {} + threadIdx.x;
  if (at >= {}) return;
{}  out[{}] = Narrow<{}>::from({});
}}
)",
                            kThreads, parameters, stored, kThreads, elements, code.body(), place, stored, value);
  call.grid = {.blocks = {static_cast<unsigned>((elements + kThreads - 1) / kThreads), 1, 1},
               .threads = {kThreads, 1, 1}};
  code.hand_over(call, output, program);
  return call;
}

}  // namespace saccade::cuda
