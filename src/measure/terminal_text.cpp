#include "measure/terminal_text.hpp"

#include <fmt/format.h>

namespace saccade {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 12;

}  // namespace

std::string wrap(std::string_view label, std::string_view sentence) {
  std::string text = fmt::format("{:<{}}", label, kIndent);
  std::size_t column = kIndent;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find(' '), sentence.size());
    const std::string_view word = sentence.substr(0, end);
    if (column > kIndent && column + 1 + word.size() > kWidth) {
      text += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    }
    if (column > kIndent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
  }
  return text + "\n";
}

std::string with_ascii_units(std::string text) {
  for (std::size_t at = text.find("µs"); at != std::string::npos; at = text.find("µs", at)) text.replace(at, 3, "us");
  return text;
}

}  // namespace saccade
