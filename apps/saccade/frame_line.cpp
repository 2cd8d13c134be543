#include "frame_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <saccade/printable.hpp>
#include <string_view>
#include <vector>

#include "plural.hpp"

namespace saccade::app {
namespace {

// What fits a line of 80 characters.
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

/// The number of objects of each class, in the order of the classes.
void add_objects(const Result& result, Parts& parts) {
  struct Group {
    int class_id;
    std::string_view name;
    std::int64_t count;
  };
  std::vector<Group> groups;
  for (const Detection& object : result.detections) {
    const auto same = [&](const Group& group) { return group.name == object.class_name; };
    const auto found = std::ranges::find_if(groups, same);
    if (found == groups.end())
      groups.push_back({object.class_id, object.class_name, 1});
    else
      ++found->count;
  }
  std::ranges::stable_sort(groups, {}, &Group::class_id);
  for (const Group& group : groups) parts.push_back(counted(group.count, printable(group.name)));
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
  return fmt::format("{}{}: {}{}", frame_name(result), model, fmt::join(parts, ", "),
                     result.invalid() ? " (invalid)" : "");
}

}  // namespace saccade::app
