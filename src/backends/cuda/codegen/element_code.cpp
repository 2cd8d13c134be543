#include "cuda/codegen/element_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "cuda/codegen/element_functions.hpp"
#include "ops/core/values.hpp"
#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

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
  if (found == std::end(kTypes)) fail(ErrorCode::kUnsupported, "kernels do not support {}", to_string(dtype));
  return *found;
}

}  // namespace

std::string_view storage_name(DType dtype) { return names_of(dtype).storage; }
std::string_view compute_name(DType dtype) { return names_of(dtype).compute; }

std::string scalar_literal(const Tensor* constant) {
  if (constant == nullptr || constant->elements() != 1) return {};
  switch (constant->dtype()) {
    case DType::kFloat32: return literal(constant->data<float>()[0]);
    case DType::kFloat16: return literal(static_cast<float>(constant->data<Float16>()[0]));
    case DType::kBFloat16: return literal(static_cast<float>(constant->data<BFloat16>()[0]));
    case DType::kInt32: return fmt::format("int32({})", constant->data<std::int32_t>()[0]);
    default: return {};
  }
}

std::string literal(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  // Hexadecimal: exact and short.
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
  SACCADE_ASSERT(source_ == nullptr);
  std::vector<int>& reads = text_->reads;
  if (std::ranges::find(reads, i) == reads.end()) reads.push_back(i);
  return fmt::format("in{}", i);
}

std::string ElementCode::input_at_offset(int i, const std::string& offset) {
  if (source_ != nullptr) return source_->element_number(node().inputs[static_cast<std::size_t>(i)], offset);
  const std::string element = element_of_vector(i, offset);
  const DType dtype = context_.input(i).type.dtype;
  return dtype == DType::kBool ? fmt::format("({} != 0)", element) : fmt::format("widen({})", element);
}

/// Reads element OFFSET of input I, as part of a vector load if the access is contiguous, else by a scalar load.
std::string ElementCode::element_of_vector(int i, const std::string& offset) {
  constexpr double kVectorized = 1;
  constexpr double kInvariant = 0.25;  // per unrolled loop
  constexpr double kCoalesced = 2;     // coalesced across threads
  constexpr double kScattered = 8;     // a whole sector per element
  const DType dtype = context_.input(i).type.dtype;
  const auto bytes = static_cast<double>(bits_of(dtype)) / 8;
  const IndexStep step = text_->unroll > 1 ? index_step_of(offset, text_->item, text_->unroll) : IndexStep::kOther;
  const bool coalesced = index_step_of(offset, text_->lane) != IndexStep::kOther;
  text_->traffic += bytes * (step == IndexStep::kUnit        ? kVectorized
                             : step == IndexStep::kInvariant ? kInvariant
                             : coalesced                     ? kCoalesced
                                                             : kScattered);
  if (step != IndexStep::kUnit) return fmt::format("{}[{}]", buffer(i), offset);
  const std::string key = fmt::format("in{}[{}]", i, offset);
  std::string vector = noted(key);
  if (vector.empty()) {
    vector = fresh("vector");
    text_->vectors += fmt::format("  AlignedVector<{}, {}> {};\n", storage_name(dtype), text_->unroll, vector);
    line(fmt::format("if (item == 0) {} = load_vector<{}>({} + ({}));", vector, text_->unroll, buffer(i), offset));
    note(key, vector);
  }
  return vector + ".data[item]";
}

void ElementCode::open_unrolled(const std::string& index, const std::string& first, int count) {
  text_->unrolled_begin = text_->body.size();
  text_->unroll = count;
  text_->item.name = index;
  text_->lane.let(index, first);
  open(fmt::format("#pragma unroll\n  for (int32 item = 0; item < {}; ++item)", count));
  line(fmt::format("const int32 {} = {} + item;", index, first));
}

std::string ElementCode::body() const {
  std::string whole = text_->body;
  return whole.insert(text_->unrolled_begin, text_->vectors);
}

std::string ElementCode::input(int i, const Index& at) {
  if (std::string value = scalar_literal(context_.constant(i)); !value.empty()) return value;
  if (source_ != nullptr) return source_->element(node().inputs[static_cast<std::size_t>(i)], at);
  return input_at_offset(i, offset_of(at, context_.input(i).type.shape, context_.input_storage(i).strides));
}

std::string ElementCode::broadcast(int i, const Index& at) {
  return input(i, broadcast_index(at, context_.input(i).type.shape));
}

std::string ElementCode::table(std::string_view type, std::vector<std::byte> bytes) {
  text_->tables.push_back(std::move(bytes));
  text_->table_types.emplace_back(type);
  return fmt::format("table{}", text_->tables.size() - 1);
}

std::string ElementCode::index_report(std::int64_t dim) {
  text_->indexed.push_back(dim);
  return fmt::format("index_reports + {}", text_->indexed.size() - 1);
}

std::string ElementCode::let(std::string_view type, const std::string& expression) {
  std::string name = fresh();
  line(fmt::format("const {} {} = {};", type, name, expression));
  text_->item.let(name, expression);
  text_->lane.let(name, expression);
  return name;
}

void ElementCode::open(const std::string& head) {
  line(head + " {");
  text_->notes.emplace_back();
}

void ElementCode::close() {
  line("}");
  text_->notes.pop_back();
}

std::string ElementCode::noted(const std::string& key) const {
  for (const auto& notes : text_->notes)
    if (const auto found = notes.find(key); found != notes.end()) return found->second;
  return {};
}

std::string ElementCode::apply_post_ops(std::string x, const std::function<std::string(int operand)>& read) {
  for (const PostOp& post : node().post_ops) {
    x = let("float", x);
    if (post.operand < 0)
      x = unary_post_op(post, x);
    else
      x = fmt::format("{} {} {}", x, post.op == "Add" ? "+" : "*", read(post.operand));
  }
  return x;
}

std::string ElementCode::post_ops(std::string x, const std::string& offset) {
  return apply_post_ops(std::move(x), [&](int operand) { return input_at_offset(operand, offset); });
}

std::string ElementCode::post_ops(std::string x, const Index& at) {
  return apply_post_ops(std::move(x), [&](int operand) { return input(operand, at); });
}

std::string ElementCode::parameters() const {
  std::string list;
  const auto add = [&](std::string_view type, std::string_view name) {
    list += fmt::format("{}const {}* __restrict__ {}", list.empty() ? "" : ", ", type, name);
  };
  for (int i : text_->reads) add(storage_name(context_.input(i).type.dtype), fmt::format("in{}", i));
  for (std::size_t i = 0; i < text_->tables.size(); ++i) add(text_->table_types[i], fmt::format("table{}", i));
  if (!text_->indexed.empty()) list += fmt::format("{}volatile int64* index_reports", list.empty() ? "" : ", ");
  return list;
}

std::vector<Argument> ElementCode::arguments() const {
  std::vector<Argument> list;
  for (int i : text_->reads) list.push_back({Argument::Kind::kInput, static_cast<std::size_t>(i)});
  for (std::size_t i = 0; i < text_->tables.size(); ++i) list.push_back({Argument::Kind::kPacked, i});
  if (!text_->indexed.empty()) list.push_back({Argument::Kind::kIndexReports, 0});
  return list;
}

void ElementCode::bind_arguments(KernelCall& call, int output, NodeProgram& program) {
  call.arguments = arguments();
  for (Argument& argument : call.arguments) {
    if (argument.kind == Argument::Kind::kPacked) argument.index += program.packed.size();
    if (argument.kind == Argument::Kind::kIndexReports) argument.index += program.indexed.size();
  }
  call.arguments.push_back({Argument::Kind::kOutput, static_cast<std::size_t>(output)});
  for (auto& table : text_->tables) program.packed.push_back(std::move(table));
  program.indexed.insert(program.indexed.end(), text_->indexed.begin(), text_->indexed.end());
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

}  // namespace saccade::cuda
