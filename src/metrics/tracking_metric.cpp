#include "metrics/tracking_metric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/assignment.hpp"
#include "metrics/tracking_pairs.hpp"

namespace saccade {
namespace {

constexpr double kTiny = std::numeric_limits<double>::epsilon();
constexpr double kMatch = 0.5;  // IoU, for CLEAR MOT and IDF1
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

double threshold(std::size_t index) { return 0.05 * static_cast<double>(index + 1); }

/// How well each pair of identities agrees over the sequence: TrackEval's global alignment score.
PairTable alignment_of(const TrackSequence& sequence) {
  PairTable table(sequence);
  std::vector<double> of_found;
  for (const TrackPairs& frame : sequence.frames) {
    of_found.assign(frame.found.size(), 0);
    for (std::size_t i = 0; i < frame.truth.size(); ++i)
      for (std::size_t j = 0; j < frame.found.size(); ++j) of_found[j] += frame.overlap(i, j);
    for (std::size_t i = 0; i < frame.truth.size(); ++i) {
      double of_truth = 0;
      for (std::size_t j = 0; j < frame.found.size(); ++j) of_truth += frame.overlap(i, j);
      for (std::size_t j = 0; j < frame.found.size(); ++j) {
        const double all = of_truth + of_found[j] - frame.overlap(i, j);
        if (all > kTiny) table.at(frame.truth[i], frame.found[j]) += frame.overlap(i, j) / all;
      }
    }
  }
  for (std::size_t i = 0; i < sequence.truth.size(); ++i)
    for (std::size_t j = 0; j < sequence.found.size(); ++j) {
      double& value = table.at(i, j);
      value /= sequence.truth.count(i) + sequence.found.count(j) - value;
    }
  return table;
}

/// Pairs the objects of frames so that the sum of SCORE(i, j) is largest.
class FrameMatcher {
 public:
  template <typename Score>
  void match(const TrackPairs& frame, const Score& score) {
    scores_.clear();
    for (std::size_t i = 0; i < frame.truth.size(); ++i)
      for (std::size_t j = 0; j < frame.found.size(); ++j) scores_.push_back(score(i, j));
    assignment_.solve(scores_, frame.truth.size(), frame.found.size());
  }
  /// The partner of object I of the truth; kNone: none.
  std::size_t partner(std::size_t i) const {
    const int column = assignment_.column_of(i);
    return column < 0 ? kNone : static_cast<std::size_t>(column);
  }

 private:
  Assignment assignment_;
  std::vector<double> scores_;
};

}  // namespace

void TrackingMetric::add(std::span<const TrackedObjects> truth, std::span<const TrackedObjects> found) {
  const TrackSequence sequence(truth, found);
  add_hota(sequence);
  add_clear(sequence);
  add_identity(sequence);
}

void TrackingMetric::add_hota(const TrackSequence& sequence) {
  PairTable alignment = alignment_of(sequence);
  // By the numbers of truth and track: matches at each threshold.
  std::map<std::pair<std::size_t, std::size_t>, std::array<double, kThresholds>> matches;
  std::array<double, kThresholds> matched{};
  FrameMatcher matcher;
  for (const TrackPairs& frame : sequence.frames) {
    matcher.match(frame, [&](std::size_t i, std::size_t j) {
      return alignment.at(frame.truth[i], frame.found[j]) * frame.overlap(i, j);
    });
    for (std::size_t i = 0; i < frame.truth.size(); ++i) {
      const std::size_t j = matcher.partner(i);
      if (j == kNone) continue;
      for (std::size_t a = 0; a < kThresholds && frame.overlap(i, j) >= threshold(a) - kTiny; ++a) {
        ++matches[{frame.truth[i], frame.found[j]}][a];
        ++matched[a];
      }
    }
  }
  for (std::size_t a = 0; a < kThresholds; ++a) {
    Counts& counts = hota_[a];
    counts.true_positives += matched[a];
    counts.false_negatives += sequence.truth.detections() - matched[a];
    counts.false_positives += sequence.found.detections() - matched[a];
    for (const auto& [pair, count] : matches)
      counts.association +=
          count[a] * count[a] / (sequence.truth.count(pair.first) + sequence.found.count(pair.second) - count[a]);
  }
}

void TrackingMetric::add_clear(const TrackSequence& sequence) {
  // A match of the last frame is kept where it is good enough.
  constexpr double kKept = 1000;
  // By the truth's number: the track that it had in the last frame, and ever.
  std::vector<std::size_t> last(sequence.truth.size(), kNone);
  std::vector<std::size_t> ever(sequence.truth.size(), kNone);
  FrameMatcher matcher;
  for (const TrackPairs& frame : sequence.frames) {
    std::int64_t matched = 0;
    if (!frame.truth.empty() && !frame.found.empty()) {
      matcher.match(frame, [&](std::size_t i, std::size_t j) {
        if (frame.overlap(i, j) < kMatch - kTiny) return 0.0;
        return frame.overlap(i, j) + (last[frame.truth[i]] == frame.found[j] ? kKept : 0);
      });
      // As in TrackEval, a frame without truth or without tracks changes nothing.
      std::ranges::fill(last, kNone);
      for (std::size_t i = 0; i < frame.truth.size(); ++i) {
        const std::size_t j = matcher.partner(i);
        if (j == kNone || frame.overlap(i, j) < kMatch - kTiny) continue;
        ++matched;
        const std::size_t track = frame.found[j];
        std::size_t& before = ever[frame.truth[i]];
        if (before != kNone && before != track) ++switches_;
        before = last[frame.truth[i]] = track;
      }
    }
    matched_ += matched;
    missed_ += static_cast<std::int64_t>(frame.truth.size()) - matched;
    extra_ += static_cast<std::int64_t>(frame.found.size()) - matched;
  }
}

void TrackingMetric::add_identity(const TrackSequence& sequence) {
  PairTable common(sequence);
  for (const TrackPairs& frame : sequence.frames)
    for (std::size_t i = 0; i < frame.truth.size(); ++i)
      for (std::size_t j = 0; j < frame.found.size(); ++j)
        if (frame.overlap(i, j) >= kMatch) ++common.at(frame.truth[i], frame.found[j]);
  // Pairing identities so that most detections agree leaves the fewest false ones.
  Assignment assignment;
  assignment.solve(common.values(), sequence.truth.size(), sequence.found.size());
  for (std::size_t i = 0; i < sequence.truth.size(); ++i)
    if (const int j = assignment.column_of(i); j >= 0) same_ += common.at(i, static_cast<std::size_t>(j));
  truth_ += sequence.truth.detections();
  found_ += sequence.found.detections();
}

TrackingScores TrackingMetric::scores() const {
  TrackingScores scores{.switches = switches_, .false_positives = extra_, .false_negatives = missed_};
  for (const Counts& counts : hota_) {
    const double all = counts.true_positives + counts.false_negatives + counts.false_positives;
    const double detection = counts.true_positives / std::max(all, 1.0);
    const double association = counts.association / std::max(counts.true_positives, 1.0);
    scores.hota += std::sqrt(detection * association) / kThresholds;
    scores.detection_accuracy += detection / kThresholds;
    scores.association_accuracy += association / kThresholds;
  }
  const auto truth = static_cast<double>(std::max<std::int64_t>(matched_ + missed_, 1));
  scores.mota = static_cast<double>(matched_ - extra_ - switches_) / truth;
  scores.idf1 = 2 * same_ / std::max(truth_ + found_, 1.0);
  return scores;
}

}  // namespace saccade
