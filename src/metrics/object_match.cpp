#include "metrics/object_match.hpp"

#include <algorithm>

namespace saccade {
namespace {

struct AreaRange {
  double low;
  double high;
  bool holds(double area) const { return area >= low && area <= high; }
};
constexpr std::array<AreaRange, kAreas> kAreaRanges = {
    {{0, 1e10}, {0, 32.0 * 32}, {32.0 * 32, 96.0 * 96}, {96.0 * 96, 1e10}}};

/// numpy.linspace(0.5, 0.95, 10), bit-identical: the thresholds of COCO.
double overlap_threshold(std::size_t i) {
  return i == kOverlaps - 1 ? 0.95 : 0.5 + static_cast<double>(i) * ((0.95 - 0.5) / 9);
}

/// The objects, those that count in an area range first.
class Candidates {
 public:
  struct Match {
    bool found = false;
    bool ignored = false;  ///< matched to an ignored object
  };

  Candidates(const std::vector<ObjectMatch::Object>& objects, AreaRange range) {
    for (std::size_t g = 0; g < objects.size(); ++g)
      entries_.push_back({g, objects[g].crowd, objects[g].ignored || !range.holds(objects[g].area)});
    std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.ignored; });
  }

  int wanted() const {
    return static_cast<int>(std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.ignored; }));
  }

  void release() {
    for (Entry& entry : entries_) entry.taken = false;
  }

  /// Takes the free object with the greatest SIMILARITY, at least THRESHOLD, to the prediction; objects that count come
  /// before ignored ones. A crowd stays free.
  /// that counts before one that does not. A crowd is never used up.
  Match take(const double* similarity, double threshold) {
    double best = std::min(threshold, 1 - 1e-10);
    Entry* chosen = nullptr;
    for (Entry& entry : entries_) {
      if (entry.taken && !entry.crowd) continue;
      if (chosen != nullptr && !chosen->ignored && entry.ignored) break;
      if (!(similarity[entry.object] >= best)) continue;  // also if it is NaN
      best = similarity[entry.object];
      chosen = &entry;
    }
    if (chosen == nullptr) return {};
    chosen->taken = true;
    return {true, chosen->ignored};
  }

 private:
  struct Entry {
    std::size_t object;
    bool crowd;
    bool ignored;
    bool taken = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace

void ObjectMatch::run(std::span<MatchedPrediction> predictions, WantedObjects& wanted) const {
  for (std::size_t area = 0; area < kAreas; ++area) {
    Candidates candidates(objects, kAreaRanges[area]);
    wanted.count[area] += candidates.wanted();
    for (std::size_t t = 0; t < kOverlaps; ++t) {
      candidates.release();
      for (std::size_t d = 0; d < predictions.size(); ++d) {
        const Candidates::Match match = candidates.take(similarity.data() + d * objects.size(), overlap_threshold(t));
        const bool outside = !kAreaRanges[area].holds(areas[d]);
        MatchedPrediction& prediction = predictions[d];
        prediction.right[area] |= static_cast<std::uint16_t>(static_cast<unsigned>(match.found) << t);
        prediction.ignored[area] |= static_cast<std::uint16_t>((match.found ? match.ignored : outside) ? 1U << t : 0U);
      }
    }
  }
}

}  // namespace saccade
