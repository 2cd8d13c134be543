#include "measure/report/terminal_text.hpp"

#include <fmt/format.h>

namespace saccade {
namespace {

constexpr std::size_t kIndent = 12;

}  // namespace

ReportText wrap(std::string_view label, std::string_view unclean) {
  const std::string cleaned = printable(unclean);
  std::string_view sentence = cleaned;
  ReportText lines;
  std::string text = fmt::format("{:<{}}", label, kIndent);
  std::size_t column = kIndent;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find(' '), sentence.size());
    const std::string_view word = sentence.substr(0, end);
    if (column > kIndent && column + 1 + word.size() > kTerminalWidth) {
      lines.add("{}\n", text);
      text.assign(kIndent, ' ');
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
  return lines.add("{}\n", text);
}

ReportText with_ascii_units(ReportText text) {
  text.replace("µs", "us");
  return text;
}

}  // namespace saccade
