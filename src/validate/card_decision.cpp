#include "validate/card_decision.hpp"

#include <algorithm>
#include <cmath>

#include "vision/cards/card_variants.hpp"

namespace saccade {
namespace {

/// Of the interval that rules out usual values with other pixels than the best card's: a wrong channel order costs a
/// detector little, so that 95 % would keep a wrong default.
constexpr double kOtherPixelsConfidence = 0.8;
constexpr std::initializer_list<CardAxis> kResizeAxes = {CardAxis::kResize, CardAxis::kInterpolation};

/// The mean of VALUES, image i counted TIMES[i] times; 0 without any.
double mean_of(std::span<const double> values, std::span<const int> times) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    sum += times[i] * values[i];
    count += times[i];
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

/// A's evidence minus B's; an image that only one of them has counts 0 for the other.
Resampled evidence_between(const CardTrial& a, const CardTrial& b, const ResampleOptions& resample) {
  std::vector<double> between(a.images.size());
  for (std::size_t i = 0; i < between.size(); ++i) {
    const bool has_none = std::isnan(a.images[i]) && std::isnan(b.images[i]);
    const auto or_zero = [](double value) { return std::isnan(value) ? 0 : value; };
    between[i] = has_none ? NAN : or_zero(a.images[i]) - or_zero(b.images[i]);
  }
  // Of differences, as paired_difference() leaves out resamples below 0.
  const double low = std::ranges::min(between, {}, [](double v) { return std::isnan(v) ? 0 : v; });
  const double base = std::isnan(low) ? 0 : std::abs(low);
  return paired_difference([&](std::span<const int> times) { return mean_of(between, times) + base; },
                           [&](std::span<const int>) { return base; }, between.size(), resample);
}

bool may_be_best(const Resampled& behind) { return !behind.interval || behind.interval->low <= 0; }

/// Makes evidence the mean over the images that have evidence with any card, so that trials compare.
void set_evidence(std::vector<CardTrial>& trials) {
  std::vector<bool> has_any;
  for (const CardTrial& trial : trials) {
    has_any.resize(std::max(has_any.size(), trial.images.size()));
    for (std::size_t i = 0; i < trial.images.size(); ++i) has_any[i] = has_any[i] || !std::isnan(trial.images[i]);
  }
  const auto images = static_cast<double>(std::max<std::ptrdiff_t>(1, std::ranges::count(has_any, true)));
  for (CardTrial& trial : trials) trial.evidence = sum_of_evidence(trial) / images;
}

/// The keys of a card that differ.
std::vector<CardAxis> differing(const Card& a, const Card& b) {
  std::vector<CardAxis> axes;
  if (a.head().decoder != b.head().decoder)
    axes.push_back(CardAxis::kDecoder);
  else if (a.head().labels != b.head().labels || a.head().remap != b.head().remap)
    axes.push_back(CardAxis::kLabels);
  if (a.color != b.color) axes.push_back(CardAxis::kColor);
  if (!has_same_normalization(a, b)) axes.push_back(CardAxis::kNormalization);
  if (a.resize != b.resize || a.resize_to != b.resize_to || a.pad != b.pad) axes.push_back(CardAxis::kResize);
  if (a.interpolation != b.interpolation) axes.push_back(CardAxis::kInterpolation);
  return axes;
}

bool are_within(const std::vector<CardAxis>& axes, std::initializer_list<CardAxis> these) {
  return std::ranges::all_of(axes, [&](CardAxis axis) { return std::ranges::find(these, axis) != these.end(); });
}

/// The keys in which the close cards differ from the one at CHOSEN.
std::vector<CardAxis> undecided_beside(const Recognition& found, std::size_t chosen) {
  std::vector<CardAxis> axes;
  for (std::size_t i = 0; i < found.close; ++i)
    for (const CardAxis axis : differing(found.trials[i].card, found.trials[chosen].card))
      if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
  std::ranges::sort(axes);
  return axes;
}

/// What a card has that the images need not tell: the default's values, else the best card's with the interpolation
/// that is usual for its decoder.
Card usual_card(const Recognition& found) {
  const auto usual = std::ranges::find_if(found.trials, [](const CardTrial& trial) { return trial.is_default; });
  if (usual != found.trials.end()) return usual->card;
  Card card = found.trials.front().card;
  card.interpolation = usual_interpolation(card);
  return card;
}

/// Larger with more of USUAL's values; an earlier axis counts more than all later ones.
int agreement(const Card& card, const Card& usual) {
  int score = 0;
  for (const CardAxis axis : differing(card, usual)) score -= 1 << (kCardAxes - 1 - static_cast<int>(axis));
  return score;
}

bool has_same_resize(const Card& a, const Card& b) {
  const std::vector<CardAxis> axes = differing(a, b);
  return std::ranges::find_first_of(axes, kResizeAxes) == axes.end();
}

bool has_same_pixels(const Card& a, const Card& b) { return are_within(differing(a, b), kResizeAxes); }

/// The best card with TRIAL's resize and interpolation, if it was tried with them, else the best one: an interpolation
/// that suits these images does not count for a channel order.
const CardTrial& counterpart_of(const CardTrial& trial, const Recognition& found) {
  const CardTrial& best = found.trials.front();
  for (const CardTrial& other : found.trials) {
    if (!other.failure.empty() || !has_same_pixels(other.card, best.card)) continue;
    if (has_same_resize(other.card, trial.card)) return other;
  }
  return best;
}

/// Of the close cards the one with most of the usual values; one with other pixels than the best only if it is not
/// probably worse.
std::size_t most_usual(const Recognition& found, const Card& usual, const ResampleOptions& resample) {
  ResampleOptions strict = resample;
  strict.confidence = kOtherPixelsConfidence;
  const CardTrial& best = found.trials.front();
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < found.close; ++i) {
    const CardTrial& trial = found.trials[i];
    if (agreement(trial.card, usual) <= agreement(found.trials[chosen].card, usual)) continue;
    if (has_same_pixels(trial.card, best.card) ||
        may_be_best(evidence_between(counterpart_of(trial, found), trial, strict)))
      chosen = i;
  }
  return chosen;
}

/// What the close cards say of TO's chosen one, which has evidence.
CardVerdict verdict_on(const Recognition& to, const Card& usual) {
  const CardTrial& chosen = to.trials[to.chosen];
  if (are_within(to.undecided, {CardAxis::kInterpolation})) return CardVerdict::kBest;
  const std::vector<CardAxis> unusual = differing(chosen.card, usual);
  const auto is_usual = [&](CardAxis axis) { return std::ranges::find(unusual, axis) == unusual.end(); };
  if (chosen.is_default) return CardVerdict::kDefault;
  if (are_within(to.undecided, kResizeAxes)) return CardVerdict::kResize;
  const bool has_default = std::ranges::any_of(to.trials, &CardTrial::is_default);
  const auto may_be_open = [&](CardAxis axis) { return are_within({axis}, kResizeAxes) || is_usual(axis); };
  return has_default && std::ranges::all_of(to.undecided, may_be_open) ? CardVerdict::kDefault : CardVerdict::kTie;
}

}  // namespace

double sum_of_evidence(const CardTrial& trial) {
  double sum = 0;
  for (const double value : trial.images) sum += std::isnan(value) ? 0 : value;
  return sum;
}

bool is_known_worse(const Card& card, std::span<const CardTrial> trials, const ResampleOptions& resample) {
  return std::ranges::any_of(trials, [&](const CardTrial& trial) {
    if (!trial.failure.empty() || !has_same_pixels(trial.card, card)) return false;
    return std::ranges::any_of(trials, [&](const CardTrial& other) {
      return other.failure.empty() && has_same_resize(other.card, trial.card) &&
             !may_be_best(evidence_between(other, trial, resample));
    });
  });
}

void decide(Recognition& to, const ResampleOptions& resample) {
  set_evidence(to.trials);
  std::ranges::stable_sort(to.trials, [](const CardTrial& a, const CardTrial& b) {
    return std::pair(a.failure.empty(), a.evidence) > std::pair(b.failure.empty(), b.evidence);
  });
  const CardTrial best = to.trials.front();
  for (CardTrial& trial : to.trials)
    if (trial.failure.empty()) trial.behind = evidence_between(best, trial, resample);
  const auto rest = std::stable_partition(to.trials.begin(), to.trials.end(), [](const CardTrial& trial) {
    return trial.failure.empty() && may_be_best(trial.behind);
  });
  to.close = static_cast<std::size_t>(rest - to.trials.begin());
  const Card usual = usual_card(to);
  to.chosen = most_usual(to, usual, resample);
  to.undecided = undecided_beside(to, to.chosen);
  if (best.evidence < to.least)
    to.verdict = CardVerdict::kNone;
  else if (best.counted < kFewestEvidence)
    to.verdict = CardVerdict::kFew;
  else
    to.verdict = verdict_on(to, usual);
}

}  // namespace saccade
