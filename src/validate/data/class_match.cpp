#include "validate/data/class_match.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"
#include "validate/data/heads.hpp"
#include "vision/labels/labels.hpp"

namespace saccade {
namespace {

/// "a, b, c and 77 more"
std::string some_of(std::span<const std::string> names) {
  constexpr std::size_t kShown = 5;
  const std::span<const std::string> shown = names.first(std::min(names.size(), kShown));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

/// Indices of COCO's 80 categories, by class ID; empty if the file lacks one of them.
std::vector<int> by_coco_number(const CocoAnnotations& annotations) {
  std::map<std::int64_t, int> places;
  for (const CocoCategory& category : annotations.categories)
    places.emplace(category.id, static_cast<int>(places.size()));
  std::vector<int> found;
  for (int c = 0; c < static_cast<int>(coco_labels().size()); ++c) {
    const auto at = places.find(coco_category(c));
    if (at == places.end()) return {};
    found.push_back(at->second);
  }
  return found;
}

std::vector<int> by_name(std::span<const std::string> labels, const std::vector<std::string>& categories) {
  std::vector<int> found;
  for (const std::string& label : labels) {
    const auto at = std::ranges::find(categories, label);
    found.push_back(at == categories.end() ? -1 : static_cast<int>(at - categories.begin()));
  }
  return found;
}

}  // namespace

ClassMatch match_classes(const Model& model, const CocoAnnotations& annotations, const char* kind) {
  ClassMatch match;
  for (const CocoCategory& category : annotations.categories) match.categories.push_back(category.name);
  const Head& head = need_head(model, {Task::kDetect, Task::kSegment, Task::kPose, Task::kOriented}, kind, "boxes");
  const std::vector<std::string>& labels = match.labels = head.labels;
  if (are_coco(labels)) match.category = by_coco_number(annotations);
  if (match.category.empty()) match.category = by_name(labels, match.categories);
  const Card& card = impl_of(model).card();
  const bool is_first = &head == &card.head();  // whose classes --classes names
  const std::vector<int> wanted = is_first ? find_classes(card, model.options().post.classes) : std::vector<int>();
  std::vector<std::string> selected;
  match.known.resize(match.categories.size());
  for (std::size_t c = 0; c < match.category.size(); ++c) {
    match.selected.push_back(wanted.empty() || std::ranges::find(wanted, static_cast<int>(c)) != wanted.end());
    if (!match.selected[c]) continue;
    selected.push_back(labels[c]);
    if (match.category[c] >= 0) match.known[static_cast<std::size_t>(match.category[c])] = true;
  }
  if (std::ranges::find(match.known, true) == match.known.end())
    fail(ErrorCode::kInvalidArgument,
         "none of {}'s classes ({}) is a category of '{}' ({}): they are matched by name; set the model's labels in "
         "its card",
         model.name(), labels.empty() ? "it has no names for them" : some_of(selected), annotations.path,
         some_of(match.categories));
  return match;
}

std::vector<std::string> unmatched(const ClassMatch& match, const Model& model, const std::string& path,
                                   std::span<const std::int64_t> objects) {
  std::vector<std::string> notes;
  std::vector<std::string> names;
  for (std::size_t c = 0; c < match.category.size(); ++c)
    if (match.selected[c] && match.category[c] < 0) names.push_back(match.labels[c]);
  if (!names.empty())
    notes.push_back(fmt::format("{} classes of {} are not categories of {}; their predictions are skipped: {}",
                                names.size(), model.name(), path, some_of(names)));
  names.clear();
  std::vector<bool> has_class(match.categories.size());
  for (const int category : match.category)
    if (category >= 0) has_class[static_cast<std::size_t>(category)] = true;
  std::int64_t skipped = 0;
  for (std::size_t c = 0; c < has_class.size(); ++c) {
    if (has_class[c]) continue;
    names.push_back(match.categories[c]);
    skipped += objects[c];
  }
  if (!names.empty())
    notes.push_back(fmt::format("{} categories of {} are not classes of {}; their {} objects are skipped: {}",
                                names.size(), path, model.name(), skipped, some_of(names)));
  return notes;
}

}  // namespace saccade
