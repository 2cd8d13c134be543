#include "measure/report/table.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/utf8.hpp"
#include "measure/report/terminal_text.hpp"

namespace saccade {
namespace {

constexpr std::size_t kGap = 2;

/// Of each column.
using ColumnWidths = std::vector<std::size_t>;

/// Indices of the columns that a line holds.
using Block = std::vector<std::size_t>;

/// A cell as displayed: its width counts.
using Cell = std::function<std::string(std::size_t column)>;

ReportText line(const Table& table, const ColumnWidths& widths, const Block& block, const Cell& cell) {
  std::string text;
  for (const std::size_t i : block) {
    const std::string content = cell(i);
    const std::string space(widths[i] - utf8_count(content), ' ');
    if (i != block.front()) text.append(kGap, ' ');
    text += table.columns[i].is_number ? space + content : content + space;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return report_text("{}\n", text);
}

std::string table_title(const Table& table, std::size_t i) { return printable(table.columns[i].title); }

std::string table_cell(const std::vector<std::string>& row, std::size_t i) {
  return i < row.size() ? printable(row[i]) : std::string();
}

ColumnWidths widths_of(const Table& table) {
  ColumnWidths widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(utf8_count(table_title(table, i)));
    for (const auto& row : table.rows) widths.back() = std::max(widths.back(), utf8_count(table_cell(row, i)));
  }
  return widths;
}

std::size_t width_of(const Block& block, const ColumnWidths& widths) {
  std::size_t width = 0;
  for (const std::size_t i : block) width += (i == block.front() ? 0 : kGap) + widths[i];
  return width;
}

/// The columns, split so that a line has at most kTerminalWidth. The first column is in all blocks: it names the row.
std::vector<Block> blocks_of(const Table& table, const ColumnWidths& widths) {
  std::vector<Block> blocks(1);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    Block& last = blocks.back();
    if (last.size() < 2 || width_of(last, widths) + kGap + widths[i] <= kTerminalWidth) {
      last.push_back(i);
      continue;
    }
    Block next = {0, last.back(), i};
    if (table.columns[i].follows && last.size() > 2 && width_of(next, widths) <= kTerminalWidth)
      last.pop_back();
    else
      next = {0, i};
    blocks.push_back(std::move(next));
  }
  return blocks;
}

}  // namespace

std::size_t line_width(const Table& table) {
  Block all(table.columns.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return width_of(all, widths_of(table));
}

ReportText to_text(const Table& table) {
  const ColumnWidths widths = widths_of(table);
  const std::vector<Block> blocks = blocks_of(table, widths);
  ReportText text;
  for (const Block& block : blocks) {
    if (&block != &blocks.front()) text += "\n";
    text += line(table, widths, block, [&](std::size_t i) { return table_title(table, i); });
    for (const auto& row : table.rows)
      text += line(table, widths, block, [&](std::size_t i) { return table_cell(row, i); });
  }
  return text;
}

}  // namespace saccade
