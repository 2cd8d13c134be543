#include "measure/report/terminal_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace saccade {
namespace {

// "  123.4 ms |" + bar + " " + count: 80 columns.
constexpr int kEdgeWidth = 10;
constexpr int kCountWidth = 7;
constexpr int kBarWidth = 80 - kEdgeWidth - 2 - 1 - kCountWidth;

std::string utf8_bar(double cells) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(cells * 8));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + std::string(kEighths[static_cast<std::size_t>(eighths % 8)]);
}

int cells_of(const std::string& bar, bool is_utf8) {
  return is_utf8 ? static_cast<int>(bar.size() / 3) : static_cast<int>(bar.size());
}

/// The density in the middle of a bin.
double density_at(const LatencyShape& shape, const LatencyShape::Bin& bin) {
  if (shape.density.empty()) return 0;
  const Nanoseconds middle = (bin.low + bin.high) / 2;
  const auto nearest = std::ranges::min_element(
      shape.density, {}, [&](const auto& point) { return std::abs((point.at - middle).count()); });
  return nearest->count;
}

/// BAR filled up to kBarWidth, with a dot at the density if that is right of it.
std::string with_density(std::string bar, int dot, bool is_utf8) {
  for (int cell = cells_of(bar, is_utf8); cell < kBarWidth; ++cell) bar += cell == dot ? (is_utf8 ? "·" : ".") : " ";
  return bar;
}

}  // namespace

ReportText terminal_histogram(const LatencyShape& shape, bool is_utf8) {
  if (shape.bins.empty()) return ReportText("no samples\n");
  double highest = 1;
  for (const auto& bin : shape.bins) highest = std::max(highest, bin.count);
  for (const auto& point : shape.density) highest = std::max(highest, point.count);
  const TimeUnit unit = time_unit(shape.bins.back().high);
  ReportText text;
  for (const LatencyShape::Bin& bin : shape.bins) {
    const double cells = bin.count / highest * kBarWidth;
    const std::string bar = is_utf8 ? utf8_bar(cells) : std::string(static_cast<std::size_t>(std::lround(cells)), '#');
    const auto dot = static_cast<int>(density_at(shape, bin) / highest * (kBarWidth - 1));
    text += report_text("{:>{}.2f} {}{} {:>{}.0f}\n", bin.low.count() / unit.nanoseconds, kEdgeWidth,
                        is_utf8 ? "│" : "|", with_density(bar, dot, is_utf8), bin.count, kCountWidth);
  }
  std::string tail = fmt::format("{:>{}}  {} samples, {} the density", fmt::format("from ({})", unit.name), kEdgeWidth,
                                 shape.samples, is_utf8 ? "·" : ".");
  if (shape.beyond > 0) tail += fmt::format("; {} beyond, up to {}", shape.beyond, duration_text(shape.longest));
  return text.add("{}\n", tail);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text = value;
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace saccade
