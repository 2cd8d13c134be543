#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

/// A file or a model that names more classes is none.
inline constexpr int kMaxClasses = 100'000;
/// No label is longer.
inline constexpr std::size_t kMaxLabelBytes = 1024;

/// Whether TEXT can't be a class's name: it is too long, or holds a NUL.
inline bool is_no_label(std::string_view text) {
  return text.size() > kMaxLabelBytes || text.find('\0') != std::string_view::npos;
}

/// The 80 classes of COCO's detection task, in the order that models use.
std::span<const std::string_view> coco_labels();
/// The category that COCO's annotation files give to a model's class 0..79 (1..90, with gaps).
int coco_category(int class_id);
/// Whether LABELS are COCO's 80, in order.
bool are_coco(std::span<const std::string> labels);

/// Class names as a Python dictionary or list prints them: "{0: 'person', 1: 'bicycle'}", "['cat', 'dog']"; an id that
/// is left out is named by its number. Throws Error (kInvalidFile) quoting what can't be read.
std::vector<std::string> parse_python_names(std::string_view text);
/// The classes that a file names: one per line; ImageNet's synsets, of which the first name counts ("n01440764 tench,
/// Tinca tinca": "tench"); or, where it ends in .yaml or .yml, the list or map `names` of Ultralytics' data sets.
/// Throws Error (kIo, kInvalidFile) naming the file, and the line where there is one.
std::vector<std::string> read_labels(const std::string& path);

}  // namespace saccade
