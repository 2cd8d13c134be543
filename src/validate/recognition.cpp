#include "validate/recognition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"
#include "validate/card_evidence.hpp"
#include "vision/cards/card_variants.hpp"

namespace saccade {
namespace {

/// Below this a card's predictions are no better than chance.
constexpr double kLeastEvidence = 0.02;
/// Rounds of the search: normalization, resize, and once more both if the other changed.
constexpr int kRounds = 2;

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

class CardSearch {
 public:
  CardSearch(const RecognitionOptions& options, const RecognitionEvents& events)
      : options_(options),
        events_(events),
        source_(open_evidence(options.data, static_cast<std::size_t>(options.limit))) {
    model_options_ = options.model;
    model_options_.card.clear();
    model_options_.post = source_->post();
  }

  Recognition run() {
    const Model model = Model::load(options_.file, model_options_);
    std::vector<Card> bases;
    for (Card& card : possible_cards(impl_of(model).graph()))
      if (source_->takes(card.task())) bases.push_back(std::move(card));
    if (bases.empty())
      fail(ErrorCode::kUnsupported, "{}: no decoder whose predictions {} evaluates fits its outputs", options_.file,
           options_.data);
    has_default_ = bases.front().origin.starts_with("the model's");
    planned_ = bases.size() * with_each_normalization(bases.front()).size() + with_each_resize(bases.front()).size();
    for (const Card& base : bases) try_all(with_each_normalization(base));
    for (int round = 0; round < kRounds && best() != nullptr && !events_.stop(); ++round) {
      try_all(with_each_resize(best()->card));
      try_all(with_each_normalization(best()->card));
    }
    return finished();
  }

 private:
  void try_all(const std::vector<Card>& cards) {
    for (const Card& card : cards)
      if (!events_.stop()) try_card(card);
  }

  void try_card(const Card& card) {
    const std::string text = to_toml(card);
    if (std::ranges::find(tried_, text) != tried_.end()) return;
    events_.progress(fmt::format("card {}: {}", tried_.size() + 1, summary_of(card)),
                     std::min(1.0, static_cast<double>(tried_.size()) / static_cast<double>(planned_)));
    tried_.push_back(text);
    CardTrial trial{.card = card, .summary = summary_of(card), .is_default = has_default_ && tried_.size() == 1};
    try {
      const Model model = Model::load(options_.file, model_options_);
      impl_of(model).use_card(card);
      const Evidence evidence = source_->collect(model, events_.stop);
      if (evidence.images.size() < source_->images()) return;  // interrupted
      trial.metric = evidence.metric;
      trial.images = evidence.images;
    } catch (const Error& error) {
      trial.failure = error.what();
    }
    trial.counted = std::ranges::count_if(trial.images, [](double value) { return !std::isnan(value); });
    trial.evidence = mean_of(trial.images, std::vector<int>(trial.images.size(), 1));
    trials_.push_back(std::move(trial));
  }

  const CardTrial* best() const {
    const CardTrial* best = nullptr;
    for (const CardTrial& trial : trials_)
      if (trial.failure.empty() && (best == nullptr || trial.evidence > best->evidence)) best = &trial;
    return best;
  }

  Recognition finished() {
    if (trials_.empty()) fail(ErrorCode::kInvalidArgument, "it was interrupted before the first card was tried");
    if (best() == nullptr)
      fail(ErrorCode::kUnsupported, "{}: no card could be tried: {}", options_.file, trials_[0].failure);
    std::ranges::stable_sort(trials_, [](const CardTrial& a, const CardTrial& b) {
      return std::pair(a.failure.empty(), a.evidence) > std::pair(b.failure.empty(), b.evidence);
    });
    Recognition recognition{.data = options_.data,
                            .metric = source_->metric(),
                            .evidence = source_->meaning(),
                            .images = source_->images(),
                            .trials = std::move(trials_)};
    decide(recognition);
    return recognition;
  }

  /// The difference of A's evidence from B's; an image that only one of them has counts 0 for the other.
  Resampled difference(const CardTrial& a, const CardTrial& b) const {
    std::vector<double> between(a.images.size());
    for (std::size_t i = 0; i < between.size(); ++i) {
      const bool is_in_none = std::isnan(a.images[i]) && std::isnan(b.images[i]);
      const auto value = [i](const CardTrial& of) { return std::isnan(of.images[i]) ? 0 : of.images[i]; };
      between[i] = is_in_none ? a.images[i] : value(a) - value(b);
    }
    // Of differences, as paired_difference() leaves out resamples below 0.
    const double low = std::ranges::min(between, {}, [](double v) { return std::isnan(v) ? 0 : v; });
    const double base = std::isnan(low) ? 0 : std::abs(low);
    Resampled resampled =
        paired_difference([&](std::span<const int> times) { return mean_of(between, times) + base; },
                          [&](std::span<const int>) { return base; }, between.size(), options_.resample);
    return resampled;
  }

  void decide(Recognition& to) const {
    const CardTrial best = to.trials.front();
    const auto is_close = [&](const CardTrial& trial) {
      return trial.failure.empty() && (!trial.behind.interval || trial.behind.interval->low <= 0);
    };
    for (CardTrial& trial : to.trials)
      if (trial.failure.empty()) trial.behind = difference(best, trial);
    const auto rest = std::stable_partition(to.trials.begin(), to.trials.end(), is_close);
    to.close = static_cast<std::size_t>(rest - to.trials.begin());
    const auto usual = std::find_if(to.trials.begin(), rest, [](const CardTrial& trial) { return trial.is_default; });
    if (best.evidence < kLeastEvidence) {
      to.verdict = CardVerdict::kNone;
    } else if (best.counted < kFewestEvidence) {
      to.verdict = CardVerdict::kFew;
    } else if (to.close == 1) {
      to.verdict = CardVerdict::kBest;
    } else if (usual != rest) {
      to.verdict = CardVerdict::kDefault;
      to.chosen = static_cast<std::size_t>(usual - to.trials.begin());
    } else {
      const auto is_alike = [&](const CardTrial& trial) { return differs_in_resize_alone(trial.card, best.card); };
      to.verdict = std::all_of(to.trials.begin(), rest, is_alike) ? CardVerdict::kResize : CardVerdict::kTie;
    }
  }

  static bool differs_in_resize_alone(Card card, const Card& from) {
    card.resize = from.resize;
    card.resize_to = from.resize_to;
    card.pad = from.pad;
    return to_toml(card) == to_toml(from);
  }

  const RecognitionOptions& options_;
  const RecognitionEvents& events_;
  std::unique_ptr<EvidenceSource> source_;
  ModelOptions model_options_;
  bool has_default_ = false;
  std::size_t planned_ = 1;
  std::vector<std::string> tried_;
  std::vector<CardTrial> trials_;
};

}  // namespace

Recognition recognise_on(const RecognitionOptions& options, const RecognitionEvents& events) {
  return CardSearch(options, events).run();
}

}  // namespace saccade
