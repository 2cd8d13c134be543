#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace saccade {

/// A drawing that is embedded in a page: no fixed colours (classes refer to the page's variables), no scripts, no
/// identifiers that could clash. Coordinates are CSS pixels, y downwards, written with at most one decimal.
class Svg {
 public:
  enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

  /// TITLE and DESCRIPTION are for screen readers.
  Svg(int width, int height, std::string_view title, std::string_view description);

  /// STYLE is a class list; a TOOLTIP is shown while the pointer is over the shape.
  void rect(double x, double y, double width, double height, std::string_view style, std::string_view tooltip = {});
  void circle(double x, double y, double radius, std::string_view style, std::string_view tooltip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  /// A polyline through POINTS; closed: filled as an area.
  struct Point {
    double x = 0;
    double y = 0;
  };
  void path(const std::vector<Point>& points, std::string_view style, bool closed = false);
  void text(double x, double y, std::string_view content, std::string_view style = {}, Anchor anchor = Anchor::kStart);

  /// A text that starts at a point, rotated anticlockwise by so many degrees.
  void slanted_text(double x, double y, double degrees, std::string_view content, std::string_view style);

  /// The complete element.
  std::string str() const { return body_ + "</svg>\n"; }

 private:
  void close(std::string_view element, std::string_view tooltip);
  std::string body_;
};

/// The approximate width of TEXT in the page's font at SIZE pixels; for keeping labels apart.
double text_width(std::string_view text, double size = 12);
/// TEXT, truncated with an ellipsis if it is wider than WIDTH at SIZE pixels.
std::string fit_text(std::string_view text, double width, double size = 12);

/// A linear or logarithmic mapping from values to pixels.
class Scale {
 public:
  static Scale linear(double from, double to, double from_pixel, double to_pixel);
  /// FROM and TO are positive.
  static Scale logarithmic(double from, double to, double from_pixel, double to_pixel);
  double operator()(double value) const;

 private:
  double from_ = 0;
  double to_ = 1;
  double from_pixel_ = 0;
  double to_pixel_ = 1;
  bool is_log_ = false;
};

/// Round numbers (1, 2 or 5 times a power of ten apart) inside [FROM, TO], about COUNT of them.
std::vector<double> ticks(double from, double to, int count);
/// The powers of ten inside [FROM, TO], both positive.
std::vector<double> decades(double from, double to);

}  // namespace saccade
