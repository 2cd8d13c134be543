#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

/// Maximum number of classes of a file or model.
inline constexpr int kMaxClasses = 100'000;
/// Maximum length of a label.
inline constexpr std::size_t kMaxLabelBytes = 1024;

/// Whether TEXT is invalid as a class name: too long, or with a NUL.
inline bool is_no_label(std::string_view text) {
  return text.size() > kMaxLabelBytes || text.find('\0') != std::string_view::npos;
}

/// The 80 classes of COCO's detection task, in the order that models use.
std::span<const std::string_view> coco_labels();
/// The category ID in COCO's annotation files (1..90, with gaps) of class 0..79.
int coco_category(int class_id);
/// Whether LABELS are COCO's 80, in order.
bool are_coco(std::span<const std::string> labels);

/// Parses class names from a Python dictionary or list, "{0: 'person', 1: 'bicycle'}" or "['cat', 'dog']". The name of
/// a missing ID is its number. Throws Error (kInvalidFile) quoting invalid text.
std::vector<std::string> parse_python_names(std::string_view text);
/// Reads class names from a file: one per line; ImageNet synsets, of which the first name counts ("n01440764 tench,
/// Tinca tinca": "tench"); or, in a file *.yaml or *.yml, the list or map `names` of Ultralytics' data sets. Throws
/// Error (kIo, kInvalidFile) with the file and, if applicable, the line.
std::vector<std::string> read_labels(const std::string& path);

}  // namespace saccade
