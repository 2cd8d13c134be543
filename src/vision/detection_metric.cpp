#include "vision/detection_metric.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace saccade {
namespace {

constexpr int kMostAnswers = 100;
constexpr int kRecalls = 101;

struct AreaRange {
  double low;
  double high;
  bool holds(double area) const { return area >= low && area <= high; }
};
constexpr AreaRange kAreaRanges[] = {{0, 1e10}, {0, 32.0 * 32}, {32.0 * 32, 96.0 * 96}, {96.0 * 96, 1e10}};

/// NumPy's linspace(0.5, 0.95, 10) and linspace(0, 1, 101), to the bit: COCO compares with these.
double overlap_threshold(int i) { return i == 9 ? 0.95 : 0.5 + i * ((0.95 - 0.5) / 9); }
double recall_threshold(int i) { return i == 100 ? 1.0 : i * (1.0 / 100); }

/// Indices of the elements of one class.
template <typename T>
std::vector<std::size_t> of_class(std::span<const T> all, int class_id) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].class_id == class_id) chosen.push_back(i);
  return chosen;
}

/// The objects of one class in one picture, those first that count in an area range.
class Candidates {
 public:
  struct Match {
    bool found = false;
    bool ignored = false;  ///< with an object that does not count
  };

  Candidates(std::span<const TrueObject> truth, const std::vector<std::size_t>& objects, AreaRange range) {
    for (const std::size_t g : objects) entries_.push_back({&truth[g], truth[g].crowd || !range.holds(truth[g].area)});
    std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.ignored; });
  }

  int wanted() const {
    return static_cast<int>(std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.ignored; }));
  }

  void release() {
    for (Entry& entry : entries_) entry.taken = false;
  }

  /// Takes the free object that BOX overlaps most, by at least THRESHOLD; one that counts before one that does not. A
  /// crowd is never used up.
  Match take(const CocoBox& box, double threshold) {
    double best = std::min(threshold, 1 - 1e-10);
    Entry* chosen = nullptr;
    for (Entry& entry : entries_) {
      if (entry.taken && !entry.object->crowd) continue;
      if (chosen != nullptr && !chosen->ignored && entry.ignored) break;
      const double common = overlap(box, entry.object->box, entry.object->crowd);
      if (common < best) continue;
      best = common;
      chosen = &entry;
    }
    if (chosen == nullptr) return {};
    chosen->taken = true;
    return {true, chosen->ignored};
  }

 private:
  struct Entry {
    const TrueObject* object;
    bool ignored;
    bool taken = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace

double overlap(const CocoBox& a, const CocoBox& b, bool crowd) {
  const double width = std::fmin(a.x + a.width, b.x + b.width) - std::fmax(a.x, b.x);
  if (width <= 0) return 0;
  const double height = std::fmin(a.y + a.height, b.y + b.height) - std::fmax(a.y, b.y);
  if (height <= 0) return 0;
  const double common = width * height;
  const double own = a.width * a.height;
  return common / (crowd ? own : own + b.width * b.height - common);
}

DetectionMetric::DetectionMetric(int classes) : classes_(static_cast<std::size_t>(classes)) {}

void DetectionMetric::add(std::span<const TrueObject> truth, std::span<const FoundObject> found) {
  for (int c = 0; c < static_cast<int>(classes_.size()); ++c) match(truth, found, c);
  ++pictures_;
}

void DetectionMetric::match(std::span<const TrueObject> truth, std::span<const FoundObject> found, int class_id) {
  const std::vector<std::size_t> objects = of_class(truth, class_id);
  std::vector<std::size_t> answers = of_class(found, class_id);
  std::ranges::stable_sort(answers, std::greater<>(), [&](std::size_t i) { return found[i].score; });
  answers.resize(std::min<std::size_t>(answers.size(), kMostAnswers));

  ClassRecord& record = classes_[static_cast<std::size_t>(class_id)];
  const std::size_t first = record.answers.size();
  for (std::size_t d = 0; d < answers.size(); ++d)
    record.answers.push_back({found[answers[d]].score, static_cast<int>(d), {}, {}});

  for (std::size_t area = 0; area < kAreas; ++area) {
    Candidates candidates(truth, objects, kAreaRanges[area]);
    record.objects[area] += candidates.wanted();
    for (int t = 0; t < kOverlaps; ++t) {
      candidates.release();
      for (std::size_t d = 0; d < answers.size(); ++d) {
        const CocoBox& box = found[answers[d]].box;
        const Candidates::Match match = candidates.take(box, overlap_threshold(t));
        const bool outside = !kAreaRanges[area].holds(box.width * box.height);
        Answer& answer = record.answers[first + d];
        answer.right[area] |= static_cast<std::uint16_t>(static_cast<unsigned>(match.found) << t);
        answer.ignored[area] |= static_cast<std::uint16_t>((match.found ? match.ignored : outside) ? 1U << t : 0U);
      }
    }
  }
}

DetectionMetric::Curve DetectionMetric::curve(const ClassRecord& record, int overlap, int area, int most) {
  const auto a = static_cast<std::size_t>(area);
  if (record.objects[a] == 0) return {};
  std::vector<const Answer*> answers;
  for (const Answer& answer : record.answers)
    if (answer.rank < most && ((answer.ignored[a] >> overlap) & 1U) == 0) answers.push_back(&answer);
  std::ranges::stable_sort(answers, std::greater<>(), &Answer::score);

  std::vector<double> precision(answers.size());
  std::vector<double> recall(answers.size());
  double right = 0;
  double wrong = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    (((answers[i]->right[a] >> overlap) & 1U) != 0 ? right : wrong) += 1;
    recall[i] = right / record.objects[a];
    precision[i] = right / (wrong + right + std::numeric_limits<double>::epsilon());
  }
  for (std::size_t i = answers.size(); i-- > 1;) precision[i - 1] = std::max(precision[i - 1], precision[i]);

  Curve result{0, recall.empty() ? 0 : recall.back()};
  for (int r = 0; r < kRecalls; ++r) {
    const auto at = std::ranges::lower_bound(recall, recall_threshold(r)) - recall.begin();
    if (at < std::ssize(precision)) result.precision += precision[static_cast<std::size_t>(at)];
  }
  result.precision /= kRecalls;
  return result;
}

double DetectionMetric::mean(double Curve::*figure, int overlap, int area, int most) const {
  double sum = 0;
  int count = 0;
  for (const ClassRecord& record : classes_) {
    for (int t = overlap < 0 ? 0 : overlap; t < (overlap < 0 ? kOverlaps : overlap + 1); ++t) {
      const double value = curve(record, t, area, most).*figure;
      if (value < 0) continue;
      sum += value;
      ++count;
    }
  }
  return count == 0 ? -1 : sum / count;
}

DetectionScores DetectionMetric::scores() const {
  const auto precision = [&](int t, int area) { return mean(&Curve::precision, t, area, kMostAnswers); };
  const auto recall = [&](int area, int most) { return mean(&Curve::recall, -1, area, most); };
  return {.ap = precision(-1, 0),
          .ap50 = precision(0, 0),
          .ap75 = precision(5, 0),
          .ap_small = precision(-1, 1),
          .ap_medium = precision(-1, 2),
          .ap_large = precision(-1, 3),
          .ar1 = recall(0, 1),
          .ar10 = recall(0, 10),
          .ar100 = recall(0, kMostAnswers),
          .ar_small = recall(1, kMostAnswers),
          .ar_medium = recall(2, kMostAnswers),
          .ar_large = recall(3, kMostAnswers)};
}

DetectionMetric::ClassScores DetectionMetric::class_scores(int class_id) const {
  const ClassRecord& record = classes_.at(static_cast<std::size_t>(class_id));
  ClassScores scores{.objects = record.objects[0], .ap = -1, .ap50 = -1};
  if (record.objects[0] == 0) return scores;
  scores.ap = 0;
  for (int t = 0; t < kOverlaps; ++t) scores.ap += curve(record, t, 0, kMostAnswers).precision / kOverlaps;
  scores.ap50 = curve(record, 0, 0, kMostAnswers).precision;
  return scores;
}

}  // namespace saccade
