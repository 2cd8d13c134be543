#include "frame_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <saccade/printable.hpp>
#include <string_view>
#include <vector>

#include "plural.hpp"
#include "reading_order.hpp"
#include "text_width.hpp"

namespace saccade::app {
namespace {

constexpr std::size_t kLineWidth = 80;
// Of the texts, also after a long name.
constexpr std::size_t kLeastRoom = 24;
// What fits the line.
constexpr std::size_t kMostClasses = 3;
constexpr std::size_t kMostSegments = 5;

using Parts = std::vector<std::string>;

/// The file's name without its folder.
std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// "bus.jpg"; of a video's frame: "street.mp4 frame 12".
std::string frame_name(const Result& result) {
  if (!result.name.empty()) return printable(result.name);
  return fmt::format("{} frame {}", printable(file_name(result.source)), result.frame);
}

/// A class and the number of its objects.
struct Group {
  int class_id = 0;
  std::string_view name;
  std::int64_t count = 0;
  std::vector<Group> second;  ///< the best class of each object by the second model
};

/// Counts an object in the group of its class. The reference is valid until the next call.
Group& count_in(std::vector<Group>& groups, int class_id, std::string_view name) {
  const auto found = std::ranges::find(groups, name, &Group::name);
  Group& group = found != groups.end() ? *found : groups.emplace_back(Group{class_id, name});
  ++group.count;
  return group;
}

/// " (2 beagles, 1 pug)", the most frequent classes first; empty without any.
std::string second_classes(std::vector<Group> groups) {
  if (groups.empty()) return {};
  std::ranges::stable_sort(groups, std::greater(), &Group::count);
  Parts parts;
  std::int64_t others = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i < kMostClasses)
      parts.push_back(counted(groups[i].count, printable(groups[i].name)));
    else
      others += groups[i].count;
  }
  if (others > 0) parts.push_back(counted(others, "other"));
  return fmt::format(" ({})", fmt::join(parts, ", "));
}

/// The number of objects of each class, in the order of the classes.
void add_objects(const Result& result, Parts& parts) {
  std::vector<Group> groups;
  for (const Detection& object : result.detections) {
    Group& group = count_in(groups, object.class_id, object.class_name);
    if (!object.classes.empty()) count_in(group.second, object.classes[0].class_id, object.classes[0].class_name);
  }
  std::ranges::stable_sort(groups, {}, &Group::class_id);
  for (const Group& group : groups)
    parts.push_back(counted(group.count, printable(group.name)) + second_classes(group.second));
}

/// TEXTS in quotation marks, separated by commas, in ROOM columns; "..." stands for what does not fit.
std::string quoted(const std::vector<std::string_view>& texts, std::size_t room) {
  constexpr std::string_view kMore = ", ...";
  constexpr std::string_view kCut = "...\"";
  std::string line;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool is_last = i + 1 == texts.size();
    const std::size_t left = room - text_width(line) - (is_last ? 0 : kMore.size());
    const std::string text = fmt::format("{}\"{}\"", i == 0 ? "" : ", ", printable(texts[i]));
    if (text_width(text) <= left) {
      line += text;
      continue;
    }
    if (i > 0) return line.append(kMore);
    line.append(cut_to_width(text, left - kCut.size())).append(kCut);
    return is_last ? line : line.append(kMore);
  }
  return line;
}

void add_classes(const Result& result, Parts& parts) {
  for (std::size_t i = 0; i < std::min(result.classes.size(), kMostClasses); ++i)
    parts.push_back(
        fmt::format("{} {:.2f}", shown_class(printable(result.classes[i].class_name)), result.classes[i].confidence));
}

/// The largest classes of the class map, in percent of the frame.
void add_segments(const Result& result, Parts& parts) {
  const double pixels = static_cast<double>(result.width) * result.height;
  for (std::size_t i = 0; i < std::min(result.segments.size(), kMostSegments); ++i)
    parts.push_back(fmt::format("{} {:.0f} %", shown_class(printable(result.segments[i].class_name)),
                                100 * static_cast<double>(result.segments[i].pixels) / pixels));
}

void add_depth(const DepthMap& depth, Parts& parts) {
  if (std::isnan(depth.mean)) {
    parts.emplace_back("no depth");
    return;
  }
  const std::string_view unit = depth.kind == DepthKind::kMetric ? " m" : "";
  parts.push_back(fmt::format("{} depth min {:.3g}{}, mean {:.3g}{}, max {:.3g}{}", to_string(depth.kind), depth.min,
                              unit, depth.mean, unit, depth.max, unit));
}

std::string_view nothing_of(Task task) {
  switch (task) {
    case Task::kClassify: return "no class";
    case Task::kSemantic: return "no segments";
    case Task::kText: return "no text";
    default: return "no objects";
  }
}

}  // namespace

std::string frame_line(const Result& result, std::size_t models) {
  Parts parts;
  add_objects(result, parts);
  add_classes(result, parts);
  add_segments(result, parts);
  if (!result.depth.cells.empty()) add_depth(result.depth, parts);
  if (result.image.width > 0) parts.push_back(fmt::format("image {}x{}", result.image.width, result.image.height));
  if (!result.embedding.empty()) parts.push_back(fmt::format("embedding of {} values", result.embedding.size()));
  if (result.uncropped > 0) parts.push_back(fmt::format("{} not cropped", result.uncropped));
  if (!result.text.empty())
    parts.push_back(fmt::format("\"{}\" {:.2f}", printable(result.text), result.text_confidence));
  if (parts.empty()) parts.emplace_back(nothing_of(result.task));
  const std::string model = models > 1 ? fmt::format(" {}", printable(result.model)) : "";
  std::string line = fmt::format("{}{}: {}", frame_name(result), model, fmt::join(parts, ", "));
  const std::string_view end = result.invalid() ? " (invalid)" : "";
  if (const auto texts = texts_in_reading_order(result); !texts.empty()) {
    line += ": ";
    const std::size_t taken = text_width(line) + end.size();
    line += quoted(texts, std::max(kLeastRoom, kLineWidth - std::min(taken, kLineWidth)));
  }
  return line.append(end);
}

}  // namespace saccade::app
