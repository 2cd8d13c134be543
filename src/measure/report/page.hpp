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
  std::string note;   ///< what it means, or what it is compared with
};

struct PageImage {
  std::string bytes;  ///< of the file, embedded as they are
  std::string media_type = "image/jpeg";
  std::string description;  ///< what it shows, for those who can't see it
  std::string caption;
};

/// One HTML file that needs no other: style, charts and images are inside, there are no scripts. Light and dark,
/// wide and narrow, screen and paper. What is added appears in the order of the calls, under the last heading; all
/// texts are plain and escaped here.
class Page {
 public:
  /// SUBTITLE says what ran on which machine.
  Page(std::string_view title, std::string_view subtitle);

  /// Tiles stand together at the top, whenever they are added.
  void tile(const Tile& tile);
  /// A sentence under the tiles that says what matters most.
  void lead(std::string_view sentence);
  void section(std::string_view heading);
  void text(std::string_view paragraph);
  void table(const Table& table);
  void pictures(const std::vector<PageImage>& pictures);
  /// Any of charts.hpp, under its title.
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

/// The style that charts are drawn for: what a page of one's own must hold to show them.
std::string_view page_style();

}  // namespace saccade
