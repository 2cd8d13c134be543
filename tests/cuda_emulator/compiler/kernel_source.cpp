#include "compiler/kernel_source.hpp"

#include <algorithm>
#include <regex>
#include <string_view>

namespace saccade::emulator {
namespace {

/// The end of the comment or string of TEXT that starts at AT; AT if none does.
std::size_t ignored_until(std::string_view text, std::size_t at) {
  const auto after = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) == "/*") return after("*/", at + 2);
  if (text[at] != '"') return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// TEXT with comments and strings other than "C" blanked out; lines keep their numbers.
std::string without_comments(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = ignored_until(text, at);
    if (end == at) continue;
    if (text.compare(at, end - at, "\"C\"") != 0)
      for (std::size_t i = at; i < end; ++i)
        if (text[i] != '\n') text[i] = ' ';
    at = end - 1;
  }
  return text;
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
      R"(extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\(\s*[^()]*\)\s*)?([^;=(){}\[\]]*?)(\w+)\s*\[\s*\]\s*;)");
  constexpr std::string_view kStart = "extern";
  std::string result;
  std::size_t copied = 0;
  // The expression alone would look at every character of all headers, for every kernel.
  for (std::size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, at + kStart.size())) {
    std::smatch match;
    if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), match, declaration,
                           std::regex_constants::match_continuous))
      continue;
    // A reference to the pointer, since the declaration may be at namespace scope, before a block exists.
    result.append(text, copied, at - copied)
        .append(match.format("$1* const& $2 = reinterpret_cast<$1* const&>(cpu::runtime.dynamic_shared);"));
    copied = at + static_cast<std::size_t>(match.length());
  }
  return result.append(text, copied);
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
