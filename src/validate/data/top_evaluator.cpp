#include "validate/data/top_evaluator.hpp"

#include <algorithm>
#include <limits>

namespace saccade {
namespace {

/// The share of VALUES that are true; -1 if empty.
double share(std::int64_t right, std::int64_t all) {
  return all == 0 ? -1 : static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace

void TopEvaluator::add(std::size_t image, const Result& result) {
  constexpr std::size_t kFive = 5;
  const int truth = truth_[image];
  const auto end = result.classes.begin() + static_cast<std::ptrdiff_t>(std::min(result.classes.size(), kFive));
  const auto at =
      std::find_if(result.classes.begin(), end, [truth](const Classification& each) { return each.class_id == truth; });
  const auto reported = std::ranges::find(result.classes, truth, &Classification::class_id);
  predictions_.push_back({truth, at != end && at == result.classes.begin(), at != end,
                          reported == result.classes.end() ? 0 : static_cast<double>(reported->confidence)});
}

std::vector<double> TopEvaluator::true_class_probabilities() const {
  std::vector<double> probabilities;
  for (const Prediction& prediction : predictions_)
    probabilities.push_back(prediction.truth < 0 ? std::numeric_limits<double>::quiet_NaN() : prediction.probability);
  return probabilities;
}

std::vector<Score> TopEvaluator::scores() const {
  std::int64_t first = 0;
  std::int64_t among_five = 0;
  std::map<int, std::pair<std::int64_t, std::int64_t>> by_class;  // images, correct ones
  std::int64_t count = 0;
  for (const Prediction& prediction : predictions_) {
    if (prediction.truth < 0) continue;
    ++count;
    first += prediction.is_first ? 1 : 0;
    among_five += prediction.is_among_five ? 1 : 0;
    auto& [images, right] = by_class[prediction.truth];
    ++images;
    right += prediction.is_first ? 1 : 0;
  }
  Score score{.name = "class",
              .counted = "pictures",
              .figures = {{"top1", share(first, count)}, {"top5", share(among_five, count)}},
              .classes = {},
              .truth = known_};
  for (const auto& [id, counts] : by_class) {
    const auto name = names_.find(id);
    score.classes.push_back(
        {name == names_.end() ? std::to_string(id) : name->second, counts.first, share(counts.second, counts.first)});
  }
  return {score};
}

std::vector<Headline> TopEvaluator::headlines() const {
  return {[this](std::span<const int> times) {
    std::int64_t right = 0;
    std::int64_t all = 0;
    for (std::size_t i = 0; i < predictions_.size(); ++i) {
      if (predictions_[i].truth < 0) continue;
      all += times[i];
      right += predictions_[i].is_first ? times[i] : 0;
    }
    return share(right, all);
  }};
}

}  // namespace saccade
