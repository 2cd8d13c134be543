#include "measure/table.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace saccade {
namespace {

std::string line(const Table& table, const std::vector<std::size_t>& widths, const auto& cell) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& content = cell(i);
    const std::string space(widths[i] - utf8_count(content), ' ');
    if (i != 0) text += "  ";
    text += table.columns[i].is_number ? space + content : content + space;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string to_text(const Table& table) {
  static const std::string kEmpty;
  const auto cell_of = [](const std::vector<std::string>& row) {
    return [&row](std::size_t i) -> const std::string& { return i < row.size() ? row[i] : kEmpty; };
  };
  const auto title = [&table](std::size_t i) -> const std::string& { return table.columns[i].title; };
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(utf8_count(title(i)));
    for (const auto& row : table.rows) widths.back() = std::max(widths.back(), utf8_count(cell_of(row)(i)));
  }
  std::string text = line(table, widths, title);
  for (const auto& row : table.rows) text += line(table, widths, cell_of(row));
  return text;
}

}  // namespace saccade
