#pragma once

#include <string>
#include <vector>

#include "base/report_text.hpp"

namespace saccade {

/// Cells under titles, for a page (Page::table) or a terminal.
struct Table {
  struct Column {
    std::string title;
    bool is_number = false;  ///< aligned at the right
  };
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< a cell a column
};

/// Lines of the titles and the rows, columns as wide as their widest cell and two spaces apart; the caption is left
/// out.
ReportText to_text(const Table& table);

}  // namespace saccade
