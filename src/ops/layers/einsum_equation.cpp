#include "ops/layers/einsum_equation.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ellipsis(char label) { return !is_letter(label); }

/// TERM's labels with its ellipsis expanded to DIMS labels.
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

/// Parses the labels of one operand and records their lengths in the equation.
void add_operand(EinsumEquation& equation, const std::string& term, const Shape& shape) {
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

/// Without "->": the ellipsis, then the labels that occur once, in order.
std::string implicit_output(const EinsumEquation& equation) {
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

}  // namespace

EinsumEquation read_einsum(const Attributes& attributes, const std::vector<Shape>& shapes) {
  std::string text = attributes.text("equation");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const auto terms = split(text.substr(0, arrow));
  if (terms.size() != shapes.size())
    fail(ErrorCode::kInvalidFile, "Einsum's equation '{}' has {} terms for {} inputs", text, terms.size(),
         shapes.size());
  EinsumEquation equation;
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

}  // namespace saccade
