#pragma once

#include <string>
#include <vector>

#include "base/report_text.hpp"

namespace saccade {

/// Cells under titles, for a page (Page::table) or a terminal.
struct Table {
  struct Column {
    std::string title;
    bool is_number = false;  ///< right-aligned
  };
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< one cell per column
};

/// The titles and rows as lines, columns as wide as their widest cell and two spaces apart, without the caption.
ReportText to_text(const Table& table);

}  // namespace saccade
