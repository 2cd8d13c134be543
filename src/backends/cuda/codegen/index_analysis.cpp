#include "cuda/codegen/index_analysis.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace saccade::cuda {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool mentions(std::string_view text, const InductionVariable& variable) {
  if (variable.name.empty()) return false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word(text.substr(i, end - i));
    if (word == variable.name || variable.dependents.contains(word)) return true;
    i = std::max(end, i + 1);
  }
  return false;
}

/// Position of the first (or LAST) of the binary operators outside of parentheses; npos: none.
std::size_t find_operator(std::string_view text, std::string_view operators, bool last) {
  int depth = 0;
  std::size_t found = std::string_view::npos;
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth != 0 || text[i] != ' ' || text[i + 2] != ' ' || operators.find(text[i + 1]) == std::string_view::npos)
      continue;
    found = i + 1;
    if (!last) return found;
  }
  return found;
}

/// Strips enclosing parentheses.
std::string_view bare(std::string_view text) {
  while (text.size() > 1 && text.front() == '(' && text.back() == ')') {
    int depth = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) return text;
    }
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_multiple(std::string_view text, int grain) {
  if (grain == 1) return true;
  if (is_number(text)) return std::atoll(std::string(text).c_str()) % grain == 0;
  const std::size_t times = find_operator(text, "*", true);
  return times != std::string_view::npos && find_operator(text, "/%+-", false) == std::string_view::npos &&
         is_multiple(bare(text.substr(times + 2)), grain);
}

/// Counts the occurrences of the variable as a term of the sum. False if it occurs otherwise, or a term is no multiple
/// of GRAIN.
bool count_terms(std::string_view text, const InductionVariable& variable, int grain, int& found) {
  text = bare(text);
  if (const std::size_t place = find_operator(text, "+-", true); place != std::string_view::npos) {
    const std::string_view right = text.substr(place + 2);
    if (text[place] == '-' && mentions(right, variable)) return false;
    return count_terms(text.substr(0, place - 1), variable, grain, found) && count_terms(right, variable, grain, found);
  }
  if (text == variable.name) {
    ++found;
    return true;
  }
  return !mentions(text, variable) && is_multiple(text, grain);
}

}  // namespace

void InductionVariable::let(const std::string& variable, const std::string& expression) {
  if (mentions(expression, *this)) dependents.insert(variable);
}

IndexStep index_step_of(const std::string& expression, const InductionVariable& variable, int grain) {
  if (!mentions(expression, variable)) return IndexStep::kInvariant;
  int found = 0;
  return count_terms(expression, variable, grain, found) && found == 1 ? IndexStep::kUnit : IndexStep::kOther;
}

}  // namespace saccade::cuda
