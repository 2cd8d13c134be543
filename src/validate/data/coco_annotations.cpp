#include "validate/data/coco_annotations.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "runtime/json_words.hpp"
#include "vision/polygon.hpp"
#include "vision/run_lengths.hpp"

namespace saccade {
namespace {

using nlohmann::json;

json parse(const std::string& path) {
  std::ifstream file = open_input(path);
  try {
    return json::parse(file);
  } catch (const json::parse_error& error) {
    fail(ErrorCode::kInvalidFile, "'{}' is not JSON: syntax error at byte {}", path, error.byte);
  } catch (const json::exception& error) {  // a number out of double's range
    fail(ErrorCode::kInvalidFile, "'{}' {}", path, in_words(error));
  }
}

/// Reads one entry of a file; errors name both.
class Entry {
 public:
  /// WHAT: "annotation", "image" or "category"; PLACE: its index.
  Entry(const std::string& path, const char* what, std::size_t place, const json& object)
      : path_(path), what_(what), place_(place), object_(object) {
    if (!object.is_object()) bad("is not an object");
  }

  template <typename... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorCode::kInvalidFile, "'{}': {} {} {}", path_, what_, name(),
         fmt::format(format, std::forward<Args>(args)...));
  }

  /// Null if the field is missing.
  const json* find(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }
  const json& at(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) bad("has no '{}'", key);
    return *value;
  }
  std::int64_t integer(const char* key) const {
    const json& value = at(key);
    if (!value.is_number_integer()) bad("has a '{}' that is not an integer", key);
    // An unsigned 64-bit number would become negative.
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) bad("has a '{}' beyond 64 bits", key);
    return value.get<std::int64_t>();
  }
  std::string text(const char* key) const {
    const json& value = at(key);
    if (!value.is_string()) bad("has a '{}' that is not a string", key);
    std::string text = value.get<std::string>();
    if (text.find('\0') != std::string::npos) bad("has a '{}' with a NUL in it", key);
    return text;
  }
  std::vector<double> numbers(const json& value, const char* key) const {
    if (!value.is_array()) bad("has a '{}' that is not a list of numbers", key);
    std::vector<double> numbers;
    for (const json& number : value) {
      if (!number.is_number()) bad("has a '{}' that is not a list of numbers", key);
      numbers.push_back(number.get<double>());
    }
    return numbers;
  }
  /// In pixels; 0 if the field is missing.
  int side(const char* key) const {
    if (find(key) == nullptr) return 0;
    const std::int64_t value = integer(key);
    if (value < 1 || value > 1 << 20) bad("has a {} of {}", key, value);
    return static_cast<int>(value);
  }

 private:
  /// Its ID, or its index if it has none.
  std::string name() const {
    const auto id = object_.is_object() ? object_.find("id") : object_.end();
    const bool has_id = object_.is_object() && id != object_.end() && id->is_number_integer();
    return has_id ? fmt::format("{}", id->get<std::int64_t>()) : fmt::format("number {} of its list", place_);
  }

  const std::string& path_;
  const char* what_;
  std::size_t place_;
  const json& object_;
};

Segmentation read_segmentation(const Entry& entry) {
  Segmentation segmentation;
  const json* said = entry.find("segmentation");
  if (said == nullptr) return segmentation;
  if (said->is_array()) {
    for (const json& polygon : *said) segmentation.polygons.push_back(entry.numbers(polygon, "segmentation"));
    return segmentation;
  }
  const auto counts = said->find("counts");
  if (!said->is_object() || counts == said->end()) entry.bad("has a 'segmentation' that is neither polygons nor runs");
  if (const auto size = said->find("size"); size != said->end()) {
    const std::vector<double> sides = entry.numbers(*size, "size");
    if (sides.size() != 2 || std::ranges::any_of(sides, [](double side) { return !(side >= 1 && side <= 1 << 20); }))
      entry.bad("has runs whose 'size' is not height and width");
    segmentation.height = static_cast<int>(sides[0]);
    segmentation.width = static_cast<int>(sides[1]);
  }
  if (counts->is_string()) {
    segmentation.packed_counts = counts->get<std::string>();
  } else {
    for (const double count : entry.numbers(*counts, "counts")) {
      if (!(count >= 0 && count < 1e15)) entry.bad("has a run of {} pixels", count);
      segmentation.counts.push_back(static_cast<std::int64_t>(count));
    }
  }
  return segmentation;
}

std::vector<CocoPoint> read_keypoints(const Entry& entry) {
  std::vector<CocoPoint> points;
  const json* said = entry.find("keypoints");
  if (said == nullptr) return points;
  const std::vector<double> numbers = entry.numbers(*said, "keypoints");
  if (numbers.size() % 3 != 0)
    entry.bad("has {} numbers for its keypoints, not three each (x, y, visibility)", numbers.size());
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    points.push_back({numbers[i], numbers[i + 1], numbers[i + 2] > 0});
  return points;
}

CocoObject read_object(const Entry& entry) {
  CocoObject object;
  object.id = entry.find("id") == nullptr ? 0 : entry.integer("id");
  const std::vector<double> box = entry.numbers(entry.at("bbox"), "bbox");
  if (box.size() != 4) entry.bad("has a 'bbox' of {} numbers, not x, y, width, height", box.size());
  object.box = {box[0], box[1], box[2], box[3]};
  if (!(box[2] >= 0 && box[3] >= 0)) entry.bad("has a box of {} by {} pixels", box[2], box[3]);
  const json* area = entry.find("area");
  if (area != nullptr && !area->is_number()) entry.bad("has an 'area' that is not a number");
  object.area = area == nullptr ? box[2] * box[3] : area->get<double>();
  if (!(object.area >= 0)) entry.bad("has an area of {}", object.area);
  const json* crowd = entry.find("iscrowd");
  object.crowd = crowd != nullptr && (crowd->is_boolean() ? crowd->get<bool>() : entry.integer("iscrowd") != 0);
  object.segmentation = read_segmentation(entry);
  object.keypoints = read_keypoints(entry);
  object.has_keypoints = entry.find("num_keypoints") == nullptr
                             ? std::ranges::any_of(object.keypoints, &CocoPoint::counts)
                             : entry.integer("num_keypoints") > 0;
  return object;
}

/// Builds the tables of IDs that entries refer to.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) { read_.path = path.string(); }

  CocoAnnotations read() {
    const json file = parse(read_.path);
    for_each(file, "categories", "category", [&](const Entry& entry) {
      const std::int64_t id = entry.integer("id");
      if (!categories_.emplace(id, read_.categories.size()).second) entry.bad("occurs twice");
      read_.categories.push_back({id, entry.text("name")});
    });
    for_each(file, "images", "image", [&](const Entry& entry) {
      CocoImage image{.id = entry.integer("id"),
                      .file_name = entry.text("file_name"),
                      .width = entry.side("width"),
                      .height = entry.side("height"),
                      .objects = {}};
      read_.images.push_back(std::move(image));
    });
    std::ranges::stable_sort(read_.images, {}, &CocoImage::id);
    for (std::size_t i = 0; i < read_.images.size(); ++i)
      if (!images_.emplace(read_.images[i].id, i).second)
        fail(ErrorCode::kInvalidFile, "'{}': image {} occurs twice", read_.path, read_.images[i].id);
    for_each(file, "annotations", "annotation", [&](const Entry& entry) { add(entry); });
    return std::move(read_);
  }

 private:
  template <typename Take>
  void for_each(const json& file, const char* key, const char* what, const Take& take) {
    const auto list = file.is_object() ? file.find(key) : file.end();
    if (!file.is_object() || list == file.end() || !list->is_array())
      fail(ErrorCode::kInvalidFile, "'{}' has no list of '{}': it is not a COCO annotation file", read_.path, key);
    if (list->empty()) fail(ErrorCode::kInvalidFile, "'{}': its list of '{}' is empty", read_.path, key);
    for (std::size_t i = 0; i < list->size(); ++i) take(Entry(read_.path, what, i, (*list)[i]));
  }

  void add(const Entry& entry) {
    const auto image = images_.find(entry.integer("image_id"));
    if (image == images_.end()) entry.bad("refers to the image {}, which does not exist", entry.integer("image_id"));
    const auto category = categories_.find(entry.integer("category_id"));
    if (category == categories_.end())
      entry.bad("refers to the category {}, which does not exist", entry.integer("category_id"));
    CocoObject object = read_object(entry);
    object.category = category->second;
    if (entry.find("id") != nullptr && !ids_.insert(object.id).second) ++read_.repeated_ids;
    read_.has_masks = read_.has_masks || !object.segmentation.empty();
    if (!object.keypoints.empty()) {
      if (read_.keypoints != 0 && read_.keypoints != object.keypoints.size())
        entry.bad("has {} keypoints, but others have {}", object.keypoints.size(), read_.keypoints);
      read_.keypoints = object.keypoints.size();
    }
    read_.images[image->second].objects.push_back(std::move(object));
  }

  CocoAnnotations read_;
  std::map<std::int64_t, std::size_t> categories_;
  std::map<std::int64_t, std::size_t> images_;
  std::set<std::int64_t> ids_;
};

}  // namespace

CocoAnnotations read_coco_annotations(const std::filesystem::path& path) { return Reader(path).read(); }

std::vector<MaskRun> mask_of(const Segmentation& segmentation, int width, int height) {
  const bool has_size = segmentation.width != 0 && segmentation.height != 0;
  if (has_size && (segmentation.width != width || segmentation.height != height))
    fail(ErrorCode::kInvalidFile, "its runs are of {}x{} pixels, but its image has {}x{}", segmentation.width,
         segmentation.height, width, height);
  RunLengths lengths;
  std::vector<MaskRun> runs;
  const auto add = [&](const Mask& mask) {
    runs = runs.empty() ? std::vector<MaskRun>(mask.runs.begin(), mask.runs.end()) : united(runs, mask.runs);
  };
  for (const std::vector<double>& polygon : segmentation.polygons)
    add(lengths.decode(polygon_counts(polygon, width, height), width, height));
  if (!segmentation.counts.empty()) add(lengths.decode(segmentation.counts, width, height));
  if (!segmentation.packed_counts.empty()) add(lengths.decode(segmentation.packed_counts, width, height));
  return runs;
}

}  // namespace saccade
