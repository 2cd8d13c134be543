#include <algorithm>
#include <string>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/strided.hpp"
#include "ops/layers/einsum_equation.hpp"

// Einsum. The operands are multiplied into a running product one by one; a label that neither the output nor a later
// operand has is summed as soon as possible.
namespace saccade {
namespace {

void infer_einsum(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "an input of type {} is not supported", to_string(context.dtype(0)));
  std::vector<Shape> shapes;
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.dtype(i) != context.dtype(0))
      fail(ErrorCode::kInvalidFile, "input {} is {}, not {} like the first", i, to_string(context.dtype(i)),
           to_string(context.dtype(0)));
    shapes.push_back(context.shape(i));
  }
  const EinsumEquation equation = read_einsum(context.attributes(), shapes);
  context.output(0, context.dtype(0), equation.shape_of(equation.output));
}

/// A labelled tensor. Integers are kept unsigned: the same bits, and overflow is defined.
template <typename Number>
struct Labelled {
  std::string labels;
  Shape shape;
  std::vector<Number> values;
};

/// The strides of an operand along LABELS: a repeated label has the sum of its strides (the diagonal), a missing or
/// broadcast one has 0.
Shape steps_along(const std::string& labels, const std::string& own, const Shape& shape) {
  const Shape strides = dense_strides(shape);
  Shape steps = Shape::filled(static_cast<int>(labels.size()), 0);
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t k = 0; k < own.size(); ++k)
      if (own[k] == labels[i] && shape[static_cast<int>(k)] != 1)
        steps[static_cast<int>(i)] += strides[static_cast<int>(k)];
  return steps;
}

/// The product of two operands, summed over the labels that are not in KEPT.
template <typename Number>
Labelled<Number> multiply(const EinsumEquation& equation, const Labelled<Number>& left, const Labelled<Number>& right,
                          const std::string& kept) {
  std::string all = kept;
  for (const std::string& labels : {left.labels, right.labels})
    for (const char label : labels)
      if (all.find(label) == std::string::npos) all += label;
  Labelled<Number> result{kept, equation.shape_of(kept), {}};
  result.values.assign(static_cast<std::size_t>(result.shape.elements()), Number{});
  const StridedLoop<3> loop(equation.shape_of(all),
                            {steps_along(all, kept, result.shape), steps_along(all, left.labels, left.shape),
                             steps_along(all, right.labels, right.shape)});
  loop.run({0, 0, 0}, [&](const auto& offsets, std::int64_t count, const auto& steps) {
    Number* to = result.values.data() + offsets[0];
    const Number* a = left.values.data() + offsets[1];
    const Number* b = right.values.data() + offsets[2];
    for (std::int64_t i = 0; i < count; ++i) to[i * steps[0]] += a[i * steps[1]] * b[i * steps[2]];
  });
  return result;
}

/// The labels of the operands so far that the output or operands from NEXT on still need.
std::string needed(const EinsumEquation& equation, const std::string& labels, std::size_t next) {
  if (next == equation.operands.size()) return equation.output;
  std::string kept;
  for (const char label : labels) {
    bool later = equation.output.find(label) != std::string::npos;
    for (std::size_t i = next; i < equation.operands.size(); ++i)
      later = later || equation.operands[i].find(label) != std::string::npos;
    if (later && kept.find(label) == std::string::npos) kept += label;
  }
  return kept;
}

template <typename T>
void einsum(const KernelContext& context, const EinsumEquation& equation) {
  using Number = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Accumulator<T>>;
  Labelled<Number> product{"", {}, {Number{1}}};
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    const auto input = context.in<T>(static_cast<int>(i));
    const Labelled<Number> operand{
        equation.operands[i], context.input(static_cast<int>(i)).shape, {input.begin(), input.end()}};
    product = multiply(equation, product, operand, needed(equation, product.labels + operand.labels, i + 1));
  }
  std::ranges::transform(product.values, context.out<T>().begin(), [](Number value) { return static_cast<T>(value); });
}

void reference_einsum(const KernelContext& context) {
  std::vector<Shape> shapes(static_cast<std::size_t>(context.input_count()));
  for (int i = 0; i < context.input_count(); ++i) shapes[static_cast<std::size_t>(i)] = context.input(i).shape;
  const EinsumEquation equation = read_einsum(context.attributes(), shapes);
  with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { einsum<T>(context, equation); });
}

constexpr Op kEinsumOps[] = {
    {"", "Einsum", infer_einsum, reference_einsum, {.arity = {1, kAnyNumber}, .cost = {.per = CostPer::kProduct}}}};

}  // namespace

std::span<const Op> einsum_ops() { return kEinsumOps; }

}  // namespace saccade
