#include <algorithm>

#include "ops/layers/einsum_equation.hpp"
#include "passes/core/match.hpp"
#include "passes/core/steps.hpp"

// Lowers an Einsum of two operands to a batched GEMM, if every common label is a batch or summed dimension and every
// other label occurs in the output: transposes the operands to [batch, free, summed] and [batch, summed, free],
// multiplies, and transposes the output. Later passes remove Transposes and Reshapes without effect.
namespace saccade {
namespace {

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

/// The LABELS for which KEEP returns true, in order.
template <typename Keep>
std::string pick(const std::string& labels, const Keep& keep) {
  std::string picked;
  std::ranges::copy_if(labels, std::back_inserter(picked), keep);
  return picked;
}

/// The roles of the labels. LEFT is the operand whose free labels come first in the output.
struct Product {
  int left = 0;
  std::string batch;
  std::string summed;
  std::string left_free;
  std::string right_free;

  int right() const { return 1 - left; }
};

/// Whether OPERAND's labels are distinct, have consistent sizes, and occur in the output or in OTHER.
bool is_simple(const EinsumEquation& equation, const Shape& shape, const std::string& operand,
               const std::string& other) {
  for (std::size_t i = 0; i < operand.size(); ++i) {
    if (operand.find(operand[i], i + 1) != std::string::npos) return false;
    if (shape[static_cast<int>(i)] != equation.extents.at(operand[i])) return false;
    if (!has(equation.output, operand[i]) && !has(other, operand[i])) return false;
  }
  return true;
}

std::optional<Product> as_product(const EinsumEquation& equation, const std::vector<Shape>& shapes) {
  const std::string& first = equation.operands[0];
  const std::string& second = equation.operands[1];
  if (!is_simple(equation, shapes[0], first, second) || !is_simple(equation, shapes[1], second, first)) return {};
  Product product;
  const std::string& output = equation.output;
  product.batch = pick(output, [&](char label) { return has(first, label) && has(second, label); });
  product.summed = pick(first, [&](char label) { return !has(output, label); });
  const std::string free = pick(output, [&](char label) { return !has(product.batch, label); });
  if (product.summed.empty()) return {};
  product.left = !free.empty() && has(second, free.front()) ? 1 : 0;
  const std::string& left = equation.operands[static_cast<std::size_t>(product.left)];
  product.left_free = pick(free, [&](char label) { return has(left, label); });
  product.right_free = pick(free, [&](char label) { return !has(left, label); });
  return product;
}

/// Adds the nodes of the GEMM to a patch.
class Builder {
 public:
  Builder(Patch& patch, const Node& einsum, const EinsumEquation& equation)
      : steps_(patch, einsum), einsum_(einsum), equation_(equation) {}

  /// FROM, with dimensions OWN, transposed to WANTED.
  ValueId transpose(ValueId from, const std::string& own, const std::string& wanted, std::string_view name) {
    std::vector<std::int64_t> order;
    for (const char label : wanted) order.push_back(static_cast<std::int64_t>(own.find(label)));
    return steps_.transpose(name, from, std::move(order));
  }

  ValueId reshape(ValueId from, const Shape& shape, std::string_view name) { return steps_.reshape(name, from, shape); }

  /// An operand as [batch, rows, columns].
  ValueId matrices(int operand, const std::string& batch, const std::string& rows, const std::string& columns) {
    const std::string& own = equation_.operands[static_cast<std::size_t>(operand)];
    const std::string name = fmt::format("operand{}", operand);
    const ValueId turned =
        transpose(einsum_.inputs[static_cast<std::size_t>(operand)], own, batch + rows + columns, name + ".order");
    return reshape(turned, {elements(batch), elements(rows), elements(columns)}, name);
  }

  ValueId multiply(ValueId left, ValueId right) {
    return steps_.add("product", {.op = "MatMul", .inputs = {left, right}});
  }

 private:
  std::int64_t elements(const std::string& labels) const { return equation_.shape_of(labels).elements(); }

  Steps steps_;
  const Node& einsum_;
  const EinsumEquation& equation_;
};

}  // namespace

std::optional<Patch> lower_einsum(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (!node.is("Einsum") || !is_plain(node) || node.inputs.size() != 2 || !is_float32(graph, node.inputs[0])) return {};
  std::vector<Shape> shapes;
  for (const ValueId input : node.inputs) shapes.push_back(graph.value(input).type.shape);
  const EinsumEquation equation = read_einsum(node.attributes, shapes);
  const auto product = as_product(equation, shapes);
  if (!product) return {};
  Patch patch(graph, fmt::format("{} to MatMul", node.name));
  Builder builder(patch, node, equation);
  const ValueId left = builder.matrices(product->left, product->batch, product->left_free, product->summed);
  const ValueId right = builder.matrices(product->right(), product->batch, product->summed, product->right_free);
  const std::string made = product->batch + product->left_free + product->right_free;
  const ValueId all = builder.reshape(builder.multiply(left, right), equation.shape_of(made), "labels");
  patch.replace(output_of(node), builder.transpose(all, made, equation.output, "output"));
  return patch;
}

}  // namespace saccade
