#include "measure/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.hpp"
#include "measure/report/markup.hpp"

namespace saccade {
namespace {

// The mean advance of a digit-heavy label in common system fonts.
constexpr double kAdvance = 0.56;

/// At most one decimal: a tenth of a pixel is finer than any screen.
std::string coordinate(double value) {
  const double rounded = std::round(value * 10) / 10;
  if (!std::isfinite(rounded) || rounded == 0) return "0";
  return rounded == std::floor(rounded) ? fmt::format("{:.0f}", rounded) : fmt::format("{:.1f}", rounded);
}

std::string class_of(std::string_view style) {
  return style.empty() ? std::string() : fmt::format(R"( class="{}")", escape_markup(style));
}

}  // namespace

Svg::Svg(int width, int height, std::string_view title, std::string_view description) {
  body_ = fmt::format(
      R"(<svg class="chart" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}: {3}">)"
      "<desc>{3}</desc>\n",
      width, height, escape_markup(title), escape_markup(description));
}

void Svg::close(std::string_view element, std::string_view tooltip) {
  if (tooltip.empty())
    body_ += "/>\n";
  else
    body_ += fmt::format("><title>{}</title></{}>\n", escape_markup(tooltip), element);
}

void Svg::rect(double x, double y, double width, double height, std::string_view style, std::string_view tooltip) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"{})", coordinate(x), coordinate(y),
                       coordinate(std::max(width, 0.0)), coordinate(std::max(height, 0.0)), class_of(style));
  close("rect", tooltip);
}

void Svg::circle(double x, double y, double radius, std::string_view style, std::string_view tooltip) {
  body_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}"{})", coordinate(x), coordinate(y), coordinate(radius),
                       class_of(style));
  close("circle", tooltip);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}"{})", coordinate(x1), coordinate(y1), coordinate(x2),
                       coordinate(y2), class_of(style));
  close("line", {});
}

void Svg::path(const std::vector<Point>& points, std::string_view style, bool closed) {
  if (points.empty()) return;
  body_ += R"(<path d=")";
  for (std::size_t i = 0; i < points.size(); ++i)
    body_ += fmt::format("{}{} {}", i == 0 ? "M" : " ", coordinate(points[i].x), coordinate(points[i].y));
  body_ += fmt::format("{}\"{}", closed ? "Z" : "", class_of(style));
  close("path", {});
}

void Svg::text(double x, double y, std::string_view content, std::string_view style, Anchor anchor) {
  constexpr std::string_view kAnchors[] = {"", R"( text-anchor="middle")", R"( text-anchor="end")"};
  body_ += fmt::format(R"(<text x="{}" y="{}"{}{}>{}</text>)"
                       "\n",
                       coordinate(x), coordinate(y), kAnchors[static_cast<std::size_t>(anchor)], class_of(style),
                       escape_markup(content));
}

void Svg::slanted_text(double x, double y, double degrees, std::string_view content, std::string_view style) {
  body_ += fmt::format(R"svg(<text transform="translate({} {}) rotate({})"{}>{}</text>)svg"
                       "\n",
                       coordinate(x), coordinate(y), coordinate(-degrees), class_of(style), escape_markup(content));
}

double text_width(std::string_view text, double size) {
  return kAdvance * size * static_cast<double>(utf8_count(text));
}

std::string fit_text(std::string_view text, double width, double size) {
  if (text_width(text, size) <= width) return std::string(text);
  std::string kept;
  while (!text.empty() && text_width(kept, size) + 2 * kAdvance * size <= width) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    kept += text.substr(0, length);
    text.remove_prefix(length);
  }
  return kept + "…";
}

Scale Scale::linear(double from, double to, double from_pixel, double to_pixel) {
  Scale scale;
  scale.from_ = from;
  scale.to_ = to > from ? to : from + 1;
  scale.from_pixel_ = from_pixel;
  scale.to_pixel_ = to_pixel;
  return scale;
}

Scale Scale::logarithmic(double from, double to, double from_pixel, double to_pixel) {
  Scale scale = linear(std::log10(from), std::log10(to), from_pixel, to_pixel);
  scale.is_log_ = true;
  return scale;
}

double Scale::operator()(double value) const {
  const double at = is_log_ ? std::log10(value) : value;
  return from_pixel_ + (at - from_) / (to_ - from_) * (to_pixel_ - from_pixel_);
}

std::vector<double> ticks(double from, double to, int count) {
  if (!(to > from) || count < 1) return {from};
  const double rough = (to - from) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * 0.999) step = factor * power;
  std::vector<double> found;
  for (double i = std::ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) found.push_back(i * step);
  return found;
}

std::vector<double> decades(double from, double to) {
  std::vector<double> found;
  for (double exponent = std::ceil(std::log10(from) - 1e-9); exponent <= std::log10(to) + 1e-9; ++exponent)
    found.push_back(std::pow(10, exponent));
  return found;
}

}  // namespace saccade
