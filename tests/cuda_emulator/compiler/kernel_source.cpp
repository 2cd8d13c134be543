#include "compiler/kernel_source.hpp"

#include <algorithm>
#include <regex>

namespace saccade::emulator {
namespace {

/// TEXT with comments and strings other than "C" blanked out; lines keep their numbers.
std::string without_comments(std::string text) {
  static const std::regex ignored(R"(//[^\n]*|/\*[^]*?\*/|"(?:[^"\\\n]|\\.)*")");
  std::string result = text;
  for (std::sregex_iterator match(text.begin(), text.end(), ignored), end; match != end; ++match)
    if (match->str() != "\"C\"")
      for (std::ptrdiff_t i = match->position(); i < match->position() + match->length(); ++i)
        if (result[static_cast<std::size_t>(i)] != '\n') result[static_cast<std::size_t>(i)] = ' ';
  return result;
}

/// Position of the closing parenthesis of the one at AT.
std::size_t closing(const std::string& text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.size();
}

/// Splits LIST at top-level commas.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : list) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  const bool none = parts.size() == 1 && parts[0].find_first_not_of(" \t\r\n") == std::string::npos;
  return none ? std::vector<std::string>() : parts;
}

}  // namespace

std::string replace_dynamic_shared(const std::string& text) {
  static const std::regex declaration(
      R"(\bextern\s+__shared__\s+(?:(?:__align__|alignas)\s*\(\s*[^()]*\)\s*)?([^;=(){}\[\]]*?)(\w+)\s*\[\s*\]\s*;)");
  // A reference to the pointer, since the declaration may be at namespace scope, before a block exists.
  return std::regex_replace(text, declaration,
                            "$1* const& $2 = reinterpret_cast<$1* const&>(cpu::runtime.dynamic_shared);");
}

std::vector<KernelName> kernel_names(const std::string& source) {
  static const std::regex word(R"(\w+|\S)");
  const std::string text = without_comments(source);
  std::vector<KernelName> names;
  for (std::size_t at = text.find("extern \"C\""); at != std::string::npos; at = text.find("extern \"C\"", at + 1)) {
    KernelName found;
    bool global = false;
    std::string before;
    std::size_t from = at + 10;
    for (std::smatch match; from < text.size(); before = match.str(), from += match.length()) {
      from = text.find_first_not_of(" \t\r\n", from);
      if (from == std::string::npos) break;
      if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), match, word,
                             std::regex_constants::match_continuous))
        break;
      if (match.str() == "__global__") global = true;
      if (match.str() == "{" || match.str() == ";") break;
      if (match.str() != "(") continue;
      const std::size_t end = closing(text, from);
      if (before != "__launch_bounds__" && before != "__cluster_dims__" && before != "__maxnreg__") {
        if (global && text.find_first_of("{;", end) != std::string::npos && text[text.find_first_of("{;", end)] == '{')
          found = {.name = before,
                   .launch_bounds = found.launch_bounds,
                   .cluster_dims = found.cluster_dims,
                   .parameters = split(text.substr(from + 1, end - from - 1))};
        break;
      }
      if (before == "__launch_bounds__") found.launch_bounds = text.substr(from + 1, end - from - 1);
      if (before == "__cluster_dims__") found.cluster_dims = text.substr(from + 1, end - from - 1);
      from = end;
      // Continues after the parenthesis.
    }
    if (!found.name.empty()) names.push_back(found);
  }
  return names;
}

}  // namespace saccade::emulator
