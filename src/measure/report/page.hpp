#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/report/charts.hpp"
#include "measure/report/table.hpp"

namespace saccade {

/// A key figure at the top of a page.
struct Tile {
  std::string label;
  std::string value;  ///< with its unit
  std::string note;   ///< an explanation or a reference value
};

struct PageImage {
  std::string bytes;  ///< of the file, embedded unchanged
  std::string media_type = "image/jpeg";
  std::string description;  ///< alternative text
  std::string caption;
};

/// A self-contained HTML file: style, charts and images are embedded, there are no scripts. For light and dark, wide
/// and narrow, screen and paper. Content appears in the order of the calls, under the last heading; all texts are plain
/// and are escaped here.
class Page {
 public:
  /// SUBTITLE says what ran on which machine.
  Page(std::string_view title, std::string_view subtitle);

  /// Tiles are shown together at the top, whenever they are added.
  void tile(const Tile& tile);
  /// A sentence under the tiles with the main result.
  void lead(std::string_view sentence);
  void section(std::string_view heading);
  void text(std::string_view paragraph);
  void table(const Table& table);
  void images(const std::vector<PageImage>& images);
  /// Any chart of charts.hpp, under its title.
  template <typename Chart>
  void chart(const Chart& chart, std::string_view caption = {}) {
    figure(chart.title, draw(chart, kWideChart), draw(chart, kNarrowChart), caption);
  }

  std::string html() const;

 private:
  void figure(std::string_view title, std::string_view wide, std::string_view narrow, std::string_view caption);
  void end_section();

  std::string title_;
  std::string subtitle_;
  std::string tiles_;
  std::string lead_;
  std::string links_;
  std::string body_;
  int sections_ = 0;
};

/// The style sheet that charts require.
std::string_view page_style();

}  // namespace saccade
