#include "measure/report/table.hpp"

#include <algorithm>
#include <functional>

#include "base/utf8.hpp"

namespace saccade {
namespace {

/// A cell as displayed: its width counts.
using Cell = std::function<std::string(std::size_t column)>;

ReportText line(const Table& table, const std::vector<std::size_t>& widths, const Cell& cell) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string content = cell(i);
    const std::string space(widths[i] - utf8_count(content), ' ');
    if (i != 0) text += "  ";
    text += table.columns[i].is_number ? space + content : content + space;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return report_text("{}\n", text);
}

}  // namespace

ReportText to_text(const Table& table) {
  const auto cell_of = [](const std::vector<std::string>& row) {
    return [&row](std::size_t i) { return i < row.size() ? printable(row[i]) : std::string(); };
  };
  const auto title = [&table](std::size_t i) { return printable(table.columns[i].title); };
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(utf8_count(title(i)));
    for (const auto& row : table.rows) widths.back() = std::max(widths.back(), utf8_count(cell_of(row)(i)));
  }
  ReportText text = line(table, widths, title);
  for (const auto& row : table.rows) text += line(table, widths, cell_of(row));
  return text;
}

}  // namespace saccade
