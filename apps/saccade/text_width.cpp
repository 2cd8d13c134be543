#include "text_width.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace saccade::app {
namespace {

using CodeRange = std::pair<char32_t, char32_t>;

// The blocks whose characters have the width W or F in Unicode's EastAsianWidth.txt.
constexpr std::array<CodeRange, 12> kWide = {{{0x1100, 0x115F},
                                              {0x2E80, 0x303E},
                                              {0x3041, 0x33FF},
                                              {0x3400, 0x4DBF},
                                              {0x4E00, 0x9FFF},
                                              {0xA000, 0xA4CF},
                                              {0xAC00, 0xD7A3},
                                              {0xF900, 0xFAFF},
                                              {0xFE30, 0xFE6F},
                                              {0xFF00, 0xFFE6},
                                              {0x1F300, 0x1FAFF},
                                              {0x20000, 0x3FFFD}}};

/// A character with its length in bytes.
struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

/// The first one of TEXT, which is not empty.
Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const std::size_t bytes = std::min(length, text.size());
  char32_t code = length == 1 ? first : first & (0x7FU >> length);
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  const auto holds = [code](const CodeRange& range) { return code >= range.first && code <= range.second; };
  return {bytes, std::ranges::any_of(kWide, holds) ? std::size_t{2} : 1};
}

}  // namespace

std::size_t text_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string_view cut_to_width(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character next = first_character(text.substr(bytes));
    if (next.columns > columns) break;
    columns -= next.columns;
    bytes += next.bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace saccade::app
