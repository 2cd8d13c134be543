#include "metrics/edit_distance.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"

namespace saccade {
namespace {

std::u32string code_points(std::string_view text) {
  // Beyond Unicode: a malformed byte is equal to no character.
  constexpr char32_t kByte = 0x110000;
  std::u32string codes;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    codes.push_back(glyph.is_utf8 ? glyph.code : kByte + glyph.code);
    text.remove_prefix(glyph.bytes);
  }
  return codes;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::u32string from = code_points(a);
  const std::u32string to = code_points(b);
  // Row i holds the distances of the first i characters of FROM from every start of TO.
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t substituted = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace saccade
