#pragma once

#include <utility>
#include <vector>

#include "saccade/postprocess.hpp"
#include "vision/cards/card.hpp"

namespace saccade {

/// The confidences that predictions must exceed.
class Thresholds {
 public:
  /// One per class ID, or one for all classes.
  explicit Thresholds(std::vector<float> by_class) : by_class_(std::move(by_class)) {}

  float of(int class_id) const {
    const auto i = static_cast<std::size_t>(class_id);
    return by_class_.size() > 1 && i < by_class_.size() ? by_class_[i] : least();
  }
  float least() const;
  /// Empty: least() is that of all classes.
  std::vector<float> by_class() const { return by_class_.size() > 1 ? by_class_ : std::vector<float>(); }

 private:
  std::vector<float> by_class_;
};

/// The first head that finds objects; null if none does.
const Head* find_objects_head(const Card& card);

/// Those of HEAD's predictions in a result.
Thresholds result_thresholds(const Head& head, const PostprocessOptions& options);
/// Those of the predictions of the graph: of objects, a tracker uses lower ones, too.
Thresholds graph_thresholds(const Head& head, const PostprocessOptions& options);

}  // namespace saccade
