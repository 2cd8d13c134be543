#include "cuda/codegen/move_code.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "cuda/codegen/element_functions.hpp"
#include "ops/core/op.hpp"
#include "runtime/storage_aliasing.hpp"
#include "tensor/numbers.hpp"

// Data-movement operators: Transpose, Slice, Pad, Concat, Gather with constant indices, layout changes. At plan time
// the reference kernel is run once on element numbers in place of elements. If the resulting origin is an affine
// function of the output index, as it mostly is, the kernel computes it; otherwise it reads a table of 4 bytes per
// element.
namespace saccade::cuda {
namespace {

/// An operator and the number of its leading inputs that it moves; 0: all.
struct Move {
  std::string_view op;
  int moved = 1;
};

// operator list: the operators that have a kernel.
constexpr Move kMoves[] = {{"CenterCropPad"}, {"Concat", 0},    {"DepthToSpace"},   {"Expand"},
                           {"Flatten"},       {"Gather"},       {"GatherElements"}, {"GatherND"},
                           {"Identity"},      {"Pad"},          {"Reshape"},        {"ReverseSequence"},
                           {"Slice"},         {"SpaceToDepth"}, {"Split"},          {"Squeeze"},
                           {"Tile"},          {"Transpose"},    {"Trilu"},          {"Unsqueeze"}};

// Limit for the element numbers and tables, which are made on the host.
constexpr std::int64_t kMaxMoved = std::int64_t{1} << 27;

const Move* find_move(const Node& node) {
  if (node.domain == "saccade" && node.op == "Reorder") {
    static constexpr Move kReorder{"Reorder"};
    return &kReorder;
  }
  const auto found = std::ranges::find(kMoves, node.op, &Move::op);
  return node.domain.empty() && found != std::end(kMoves) ? found : nullptr;
}

int moved_inputs(const NodeContext& context) {
  const int moved = find_move(context.node)->moved;
  return moved == 0 ? own_inputs(context) : moved;
}

/// Input 2 of a Pad, the fill value; -1: zero.
int fill_input(const NodeContext& context) { return context.node.op == "Pad" && context.has(2) ? 2 : -1; }

/// Origins of an output's elements, row-major: 0 for the fill value, else 1 + the element's number, counted over all
/// moved inputs.
using Origins = std::vector<std::int64_t>;

std::vector<Tensor> run_on_numbers(const NodeContext& context) {
  const int moved = moved_inputs(context);
  std::vector<Tensor> tensors;
  std::int64_t first = 1;
  for (int i = 0; i < own_inputs(context); ++i) {
    if (!context.has(i)) {
      tensors.emplace_back();
    } else if (i < moved) {
      Tensor numbers(DType::kInt64, context.input(i).type.shape);
      const auto elements = numbers.data<std::int64_t>();
      std::iota(elements.begin(), elements.end(), first);
      first += std::ssize(elements);
      tensors.push_back(std::move(numbers));
    } else if (i == fill_input(context)) {
      tensors.push_back(Tensor::scalar<std::int64_t>(0));
    } else {
      tensors.push_back(*context.constant(i));
    }
  }
  std::vector<TensorView> inputs;
  inputs.reserve(tensors.size());
  for (Tensor& tensor : tensors) inputs.push_back(tensor.empty() ? TensorView{} : view_of(tensor));
  std::vector<Tensor> results;
  std::vector<TensorView> outputs;
  for (ValueId id : context.node.outputs) {
    results.emplace_back();
    outputs.emplace_back();
    if (id == ValueId::kNone) continue;
    results.back() = Tensor(DType::kInt64, context.graph.value(id).type.shape);
    outputs.back() = view_of(results.back());
  }
  find_op(context.node.domain, context.node.op)->reference(KernelContext(context.node, inputs, outputs));
  return results;
}

/// origin = start + sum of steps[i] * index[i].
struct Affine {
  std::int64_t start = 0;
  Shape steps;
};

/// The affine function that generates the ORIGINS of an output of SHAPE, or nothing.
std::optional<Affine> affine(std::span<const std::int64_t> origins, const Shape& shape) {
  Affine sum{origins[0], Shape::filled(shape.rank(), 0)};
  const Shape strides = dense_strides(shape);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] > 1) sum.steps[i] = origins[static_cast<std::size_t>(strides[i])] - sum.start;
  Shape at = Shape::filled(shape.rank(), 0);
  for (const std::int64_t actual : origins) {
    std::int64_t origin = sum.start;
    for (int i = 0; i < shape.rank(); ++i) origin += at[i] * sum.steps[i];
    if (actual != origin || origin == 0) return {};
    for (int i = shape.rank() - 1; i >= 0 && ++at[i] == shape[i]; --i) at[i] = 0;
  }
  return sum;
}

/// Expression for element NUMBER, row-major, of input I.
std::string element_number(ElementCode& code, int i, const std::string& number) {
  const Value& value = code.context().input(i);
  const StorageView view = code.context().input_storage(i);
  if (same_storage(view, {view.root, view.offset, dense_strides(value.type.shape)}, value.type.shape))
    return code.input_at_offset(i, number);
  const std::string name = code.let("int32", number);
  return code.input(i, declare_index(code, name, value.type.shape, Layout::kRowMajor));
}

/// The origin as an index of SHAPE, one affine expression per dimension; nothing if one may carry into the next
/// dimension.
std::optional<Index> index_of(const Affine& affine, const Index& at, const Shape& to, const Shape& shape,
                              std::int64_t first_origin) {
  const Shape strides = dense_strides(shape);
  std::int64_t rest = affine.start - first_origin;
  Index index;
  Shape least = Shape::filled(shape.rank(), 0);
  Shape most = least;
  for (int i = 0; i < shape.rank(); ++i) {
    least[i] = most[i] = rest / strides[i];
    rest %= strides[i];
    index.push_back(least[i] == 0 ? "" : std::to_string(least[i]));
  }
  for (int i = 0; i < affine.steps.rank(); ++i) {
    const std::int64_t step = affine.steps[i];
    if (step == 0) continue;
    int dim = 0;
    while (dim < shape.rank() && (shape[dim] == 1 || step % strides[dim] != 0)) ++dim;
    if (dim == shape.rank()) return {};
    const std::int64_t turns = step / strides[dim];
    (turns > 0 ? most : least)[dim] += turns * (to[i] - 1);
    std::string& sum = index[static_cast<std::size_t>(dim)];
    const std::string turn = wrapped(at[static_cast<std::size_t>(i)]);
    if (!sum.empty()) sum += " + ";
    sum += turns == 1 ? turn : fmt::format("{} * {}", turn, turns);
  }
  for (int i = 0; i < shape.rank(); ++i)
    if (least[i] < 0 || most[i] >= shape[i]) return {};
  for (std::string& sum : index)
    if (sum.empty()) sum = "0";
  return index;
}

std::string sum_of(const Affine& affine, const Index& at, std::int64_t first_origin) {
  std::string sum = std::to_string(affine.start - first_origin);
  for (int i = 0; i < affine.steps.rank(); ++i)
    if (affine.steps[i] != 0)
      sum += fmt::format(" + {} * {}", wrapped(at[static_cast<std::size_t>(i)]), affine.steps[i]);
  return sum;
}

std::string fill_of(ElementCode& code) {
  const int fill = fill_input(code.context());
  const std::string type(compute_name(code.context().output().type.dtype));
  return fill < 0 ? type + "(0)"
                  : fmt::format(
                        "{}({})", type,
                        code.input(fill,
                                   Index(static_cast<std::size_t>(code.context().input(fill).type.shape.rank()), "0")));
}

/// Element of a Concat: selects the input by the index along the axis. Inputs that were written in place are skipped.
std::string concat(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const int axis = InferContext::axis(context.node.attributes.integer("axis", 0), context.output().type.shape.rank());
  const std::string& given = at[static_cast<std::size_t>(axis)];
  const std::string along = wrapped(given) == given ? given : code.let("int32", given);
  std::string value = code.fresh();
  code.line(fmt::format("{} {};", compute_name(context.output().type.dtype), value));
  std::int64_t first = 0;
  const std::vector<StorageAlias> aliases = storage_aliases(context.graph, context.node);
  for (int i = 0; i < own_inputs(context); ++i) {
    const std::int64_t size = context.input(i).type.shape[axis];
    if (size == 0) continue;
    if (context.storage != nullptr && !aliases.empty() &&
        context.storage->holds(aliases[static_cast<std::size_t>(i)])) {
      code.line(fmt::format("{}if ({} < {}) return;", first == 0 ? "" : "else ", along, first + size));
      first += size;
      continue;
    }
    Index own = at;
    own[static_cast<std::size_t>(axis)] = first == 0 ? along : fmt::format("{} - {}", along, first);
    code.open(fmt::format("{}if ({} < {})", first == 0 ? "" : "else ", along, first + size));
    code.line(fmt::format("{} = {};", value, code.input(i, own)));
    code.close();
    first += size;
  }
  return value;
}

/// Reads an element at its origin.
class Origin {
 public:
  explicit Origin(Tensor numbers) : numbers_(std::move(numbers)) {
    if (numbers_.elements() > 0) sum_ = affine(numbers_.data<std::int64_t>(), numbers_.shape());
  }

  std::string operator()(ElementCode& code, const Index& at) const {
    const Shape& from = code.context().input(0).type.shape;
    if (!sum_) return read_table(code, at);
    if (const auto index = index_of(*sum_, at, numbers_.shape(), from, 1)) return code.input(0, *index);
    return element_number(code, 0, sum_of(*sum_, at, 1));
  }

 private:
  std::string read_table(ElementCode& code, const Index& at) const {
    std::vector<std::int32_t> table;
    for (std::int64_t origin : numbers_.data<std::int64_t>()) table.push_back(static_cast<std::int32_t>(origin - 1));
    const std::string name = code.let(
        "int32", fmt::format("{}[{}]", code.table("int32", table), offset_of(at, numbers_.shape(), Layout::kRowMajor)));
    std::string value = code.fresh();
    code.line(fmt::format("{} {} = {};", compute_name(code.context().output().type.dtype), value, fill_of(code)));
    code.open(fmt::format("if ({} >= 0)", name));
    code.line(fmt::format("{} = {};", value, element_number(code, 0, name)));
    code.close();
    return value;
  }
  Tensor numbers_;
  std::optional<Affine> sum_;
};

/// Whether the indices are an arithmetic sequence.
bool is_even(const Tensor& numbers) {
  if (numbers.elements() == 1) return true;
  if (numbers.shape().rank() > 1) return false;
  if (numbers.dtype() != DType::kInt64 && numbers.dtype() != DType::kInt32) return false;
  const std::vector<double> all = *numbers_of(numbers);
  for (std::size_t i = 2; i < all.size(); ++i)
    if (all[i] - all[i - 1] != all[1] - all[0]) return false;
  return std::ranges::all_of(all, [](double number) { return number >= 0; });
}

}  // namespace

Support supports_move(const NodeContext& context) {
  const Move* move = find_move(context.node);
  if (move == nullptr) return Support::other_operator("not a data-movement operator");
  const int moved = moved_inputs(context);
  std::int64_t elements = 0;
  for (int i = 0; i < own_inputs(context); ++i) {
    if (!context.has(i)) continue;
    if (i < moved) {
      elements += context.input(i).type.shape.elements();
      if (context.input(i).type.dtype > DType::kBool) return Support::no("kernels do not support its type");
    } else if (i != fill_input(context) && context.constant(i) == nullptr) {
      return Support::no(fmt::format("its input {} is not constant", i));
    }
  }
  for (ValueId id : context.node.outputs)
    if (id != ValueId::kNone) elements += context.graph.value(id).type.shape.elements();
  if (elements > kMaxMoved) return Support::no("its tensors are too large");
  return supports_post_ops(context);
}

ElementRule find_move_rule(const NodeContext& context) {
  if (!supports_move(context)) return {};
  if (context.node.op == "Concat") return concat;
  auto origins = std::make_shared<std::vector<Origin>>();
  for (Tensor& numbers : run_on_numbers(context)) origins->emplace_back(std::move(numbers));
  return [origins](ElementCode& code, int output, const Index& at) {
    return (*origins)[static_cast<std::size_t>(output)](code, at);
  };
}

bool has_affine_origin(const NodeContext& context) {
  // operator list: the kernel computes their indices.
  static constexpr std::array<std::string_view, 10> kAlways = {"Concat", "Expand", "Flatten", "Identity",  "Reshape",
                                                               "Slice",  "Split",  "Squeeze", "Transpose", "Unsqueeze"};
  const Node& node = context.node;
  if (!supports_move(context)) return false;
  if (node.is("Gather")) return is_even(*context.constant(1));
  return node.is("Reorder", "saccade") || std::ranges::find(kAlways, node.op) != kAlways.end();
}

}  // namespace saccade::cuda
