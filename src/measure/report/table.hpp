#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/report_text.hpp"

namespace saccade {

/// Cells under titles, for a page (Page::table) or a terminal.
struct Table {
  struct Column {
    std::string title;
    bool is_number = false;  ///< right-aligned
    bool follows = false;    ///< stays beside the column before it
  };
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< one cell per column
};

/// The titles and rows as lines, columns as wide as their widest cell and two spaces apart, without the caption. Lines
/// have 80 columns: what does not fit follows in further blocks, each with the first column again.
ReportText to_text(const Table& table);
/// The width of lines that hold a whole row.
std::size_t line_width(const Table& table);

}  // namespace saccade
