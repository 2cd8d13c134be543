#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ops/dispatch.hpp"
#include "ops/op.hpp"
#include "ops/strided.hpp"

// Einsum. The operands are folded into a running product one after the other; a letter that neither the output nor a
// later operand has is summed away as soon as it can be.
namespace saccade {
namespace {

/// Letters are labels of dimensions; the dimensions of an ellipsis are '0' to '7', the last one '7'.
struct Equation {
  std::vector<std::string> operands;
  std::string output;
  std::map<char, std::int64_t> extents;

  Shape shape_of(const std::string& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(extents.at(label));
    return shape;
  }
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ellipsis(char label) { return !is_letter(label); }

/// TERM's labels with its ellipsis written out as DIMS labels.
std::string expand(const std::string& term, int dims) {
  std::string labels;
  bool seen = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      labels += term[i];
    } else if (term.compare(i, 3, "...") == 0 && !seen) {
      for (int k = Shape::kMaxRank - dims; k < Shape::kMaxRank; ++k) labels += static_cast<char>('0' + k);
      seen = true;
      i += 2;
    } else {
      fail(ErrorCode::kInvalidFile, "Einsum can't read the term '{}'", term);
    }
  }
  return labels;
}

bool has_ellipsis(const std::string& term) { return term.find('.') != std::string::npos; }

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

/// The labels of one operand; their lengths go into the equation.
void add_operand(Equation& equation, const std::string& term, const Shape& shape) {
  const auto letters = static_cast<int>(std::ranges::count_if(term, is_letter));
  const int dims = shape.rank() - letters;
  if (dims < 0 || (dims > 0 && !has_ellipsis(term)))
    fail(ErrorCode::kInvalidFile, "Einsum's term '{}' does not fit an operand of shape {}", term, shape.to_string());
  const std::string labels = expand(term, dims);
  for (int i = 0; i < shape.rank(); ++i) {
    const char label = labels[static_cast<std::size_t>(i)];
    const auto [entry, fresh] = equation.extents.emplace(label, shape[i]);
    if (fresh || entry->second == shape[i] || (is_ellipsis(label) && shape[i] == 1)) continue;
    if (!is_ellipsis(label) || entry->second != 1)
      fail(ErrorCode::kInvalidFile, "Einsum's '{}' is {} long and {} long", is_ellipsis(label) ? '.' : label,
           entry->second, shape[i]);
    entry->second = shape[i];
  }
  equation.operands.push_back(labels);
}

/// Without "->": the ellipsis, then the letters that occur once, in their order.
std::string implicit_output(const Equation& equation) {
  std::string output;
  std::string letters;
  for (const auto& [label, extent] : equation.extents) {
    std::ptrdiff_t times = 0;
    for (const std::string& operand : equation.operands) times += std::ranges::count(operand, label);
    if (is_ellipsis(label))
      output += label;
    else if (times == 1)
      letters += label;
  }
  return output + letters;
}

Equation read_equation(const Attributes& attributes, const std::vector<Shape>& shapes) {
  std::string text = attributes.text("equation");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const auto terms = split(text.substr(0, arrow));
  if (terms.size() != shapes.size())
    fail(ErrorCode::kInvalidFile, "Einsum's equation '{}' has {} terms for {} inputs", text, terms.size(),
         shapes.size());
  Equation equation;
  for (std::size_t i = 0; i < terms.size(); ++i) add_operand(equation, terms[i], shapes[i]);
  if (arrow == std::string::npos) {
    equation.output = implicit_output(equation);
    return equation;
  }
  const auto dims = static_cast<int>(
      std::ranges::count_if(equation.extents, [](const auto& entry) { return is_ellipsis(entry.first); }));
  equation.output = expand(text.substr(arrow + 2), dims);
  for (const char label : equation.output) {
    if (!equation.extents.contains(label))
      fail(ErrorCode::kInvalidFile, "Einsum's output names '{}', which no operand has", label);
    if (std::ranges::count(equation.output, label) != 1)
      fail(ErrorCode::kInvalidFile, "Einsum's output names '{}' twice", label);
  }
  return equation;
}

void infer_einsum(InferContext& context) {
  require_type<float, double, Float16, std::int32_t, std::int64_t>(context.dtype(0), "an input");
  std::vector<Shape> shapes;
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.dtype(i) != context.dtype(0))
      fail(ErrorCode::kInvalidFile, "input {} is {}, not {} like the first", i, to_string(context.dtype(i)),
           to_string(context.dtype(0)));
    shapes.push_back(context.shape(i));
  }
  const Equation equation = read_equation(context.attributes(), shapes);
  context.output(0, context.dtype(0), equation.shape_of(equation.output));
}

/// Numbers under labels. Integers are kept unsigned: the same bits, and overflow is defined.
template <typename Number>
struct Labelled {
  std::string labels;
  Shape shape;
  std::vector<Number> values;
};

/// How an operand is walked along LABELS: a label that it has twice takes both steps (the diagonal), one that it lacks
/// or broadcasts takes none.
Shape steps_along(const std::string& labels, const std::string& own, const Shape& shape) {
  const Shape strides = dense_strides(shape);
  Shape steps = Shape::filled(static_cast<int>(labels.size()), 0);
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t k = 0; k < own.size(); ++k)
      if (own[k] == labels[i] && shape[static_cast<int>(k)] != 1)
        steps[static_cast<int>(i)] += strides[static_cast<int>(k)];
  return steps;
}

/// The product of two operands, summed over the labels that KEPT lacks.
template <typename Number>
Labelled<Number> multiply(const Equation& equation, const Labelled<Number>& left, const Labelled<Number>& right,
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

/// The labels of the operands so far that are still needed: by the output or by operands from NEXT on.
std::string needed(const Equation& equation, const std::string& labels, std::size_t next) {
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
void einsum(const KernelContext& context, const Equation& equation) {
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
  std::vector<Shape> shapes;
  for (int i = 0; i < context.input_count(); ++i) shapes.push_back(context.input(i).shape);
  const Equation equation = read_equation(context.attributes(), shapes);
  with_type<float, double, Float16, std::int32_t, std::int64_t>(
      context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { einsum<T>(context, equation); });
}

constexpr Op kOps[] = {{"", "Einsum", infer_einsum, reference_einsum}};

}  // namespace

std::span<const Op> einsum_ops() { return kOps; }

}  // namespace saccade
