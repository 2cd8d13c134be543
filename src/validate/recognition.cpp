#include "validate/recognition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "pipeline/model/model_impl.hpp"
#include "validate/card_decision.hpp"
#include "validate/card_evidence.hpp"
#include "vision/cards/card_variants.hpp"

namespace saccade {
namespace {

/// Rounds of the search: normalization, resize, and once more both if the other changed.
constexpr int kRounds = 2;
/// Evidence, in multiples of the least, that shows that the network sees what it expects.
constexpr double kClearEvidence = 2;

/// Whether A and B are two decoders' readings of the same outputs.
bool predict_the_same(const CardTrial& a, const CardTrial& b) {
  return a.failure.empty() && b.failure.empty() && a.card.task() == b.card.task() &&
         a.card.head().decoder != b.card.head().decoder && a.predictions == b.predictions;
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
    graph_ = &impl_of(model).graph();
    std::vector<Card> bases;
    for (Card& card : possible_cards(*graph_))
      if (source_->takes(card.task())) bases.push_back(std::move(card));
    if (bases.empty())
      fail(ErrorCode::kUnsupported, "{}: no decoder whose predictions {} evaluates fits its outputs", options_.file,
           options_.data);
    has_default_ = bases.front().origin.starts_with("the model's");
    planned_ = bases.size() * with_each_normalization(bases.front(), *graph_).size() +
               with_each_resize(bases.front()).size() + with_each_interpolation(bases.front()).size();
    for (const Card& base : bases) {
      if (is_decoder_kept()) break;
      if (has_unknown_classes(base)) unnumbered_.insert(base.head().decoder);
      if (!events_.stop() && !try_beside_best(base)) try_base(base);
    }
    for (int round = 0; round < kRounds && best() != nullptr && !events_.stop(); ++round) {
      if (unnumbered_.contains(best()->card.head().decoder))
        try_all(with_each_numbering(best()->card, source_->classes()));
      try_all(with_each_resize(best()->card));
      for (const Card& card : with_each_normalization(best()->card, *graph_))
        if (!is_known_worse(card, trials_, options_.resample)) try_all({card});
    }
    // An interpolation changes little: it is tried for the card that the others lead to.
    const Recognition settled = decided();
    try_all(with_each_interpolation(settled.trials[settled.chosen].card));
    return decided();
  }

 private:
  /// BASE with each normalization, and numbers or the first names that the data knows for unknown classes.
  void try_base(const Card& base) {
    std::vector<Card> cards{base};
    if (has_unknown_classes(base)) cards = with_each_numbering(base, source_->classes());
    for (const Card& card : cards)
      if (!events_.stop() && try_card(card)) return try_all(with_each_normalization(card, *graph_));
  }

  bool has_clear_evidence() const {
    const double clear = kClearEvidence * source_->least() * static_cast<double>(source_->images());
    return best() != nullptr && sum_of_evidence(*best()) >= clear;
  }

  /// Without labels the evidence is confidence, which other decoders read on another scale: the default's decoder is
  /// kept if it predicts well.
  bool is_decoder_kept() const { return has_default_ && source_->metric().empty() && has_clear_evidence(); }

  /// Tries BASE's decoder on pixels from which another one predicts well: the network evidently sees what it expects.
  /// False if none does.
  bool try_beside_best(const Card& base) {
    if (!has_clear_evidence()) return false;
    const std::size_t before = trials_.size();
    static_cast<void>(try_card(beside(base, best()->card)));
    const auto is_last = [&](const CardTrial& trial) { return predict_the_same(trial, trials_.back()); };
    if (trials_.size() > before && std::ranges::any_of(trials_, is_last)) trials_.pop_back();
    return true;
  }

  /// BASE with the preprocessing of BEST and, if its classes are unknown, the like numbering.
  Card beside(const Card& base, const Card& best) const {
    Card card = with_pixels_of(base, best);
    if (!has_unknown_classes(base) || has_unknown_classes(best)) return card;
    const std::vector<Card> cards = with_each_numbering(card, source_->classes());
    const auto same = std::ranges::find_if(cards, [&](const Card& each) {
      return each.head().labels == best.head().labels && each.head().remap == best.head().remap;
    });
    return same == cards.end() ? cards.back() : *same;
  }

  void try_all(const std::vector<Card>& cards) {
    for (const Card& card : cards)
      if (!events_.stop()) static_cast<void>(try_card(card));
  }

  /// False if the model cannot run with it on these images.
  bool try_card(const Card& card) {
    const std::string text = to_toml(card);
    if (std::ranges::find(tried_, text) != tried_.end()) return true;
    events_.progress(fmt::format("card {}: {}", tried_.size() + 1, summary_of(card)),
                     std::min(1.0, static_cast<double>(tried_.size()) / static_cast<double>(planned_)));
    tried_.push_back(text);
    CardTrial trial{.card = card, .summary = summary_of(card), .is_default = has_default_ && tried_.size() == 1};
    try {
      const Model model = Model::load(options_.file, model_options_);
      impl_of(model).use_card(card);
      const Evidence evidence = source_->collect(model, events_.stop);
      if (evidence.images.size() < source_->images()) return true;  // interrupted
      trial.metric = evidence.metric;
      trial.images = evidence.images;
      trial.predictions = evidence.predictions;
    } catch (const Error& error) {
      trial.failure = error.what();
    }
    trial.counted = std::ranges::count_if(trial.images, [](double value) { return !std::isnan(value); });
    trials_.push_back(std::move(trial));
    return trials_.back().failure.empty();
  }

  const CardTrial* best() const {
    const CardTrial* best = nullptr;
    for (const CardTrial& trial : trials_)
      if (trial.failure.empty() && (best == nullptr || sum_of_evidence(trial) > sum_of_evidence(*best))) best = &trial;
    return best;
  }

  Recognition decided() const {
    if (trials_.empty()) fail(ErrorCode::kInvalidArgument, "it was interrupted before the first card was tried");
    if (best() == nullptr)
      fail(ErrorCode::kUnsupported, "{}: no card could be tried: {}", options_.file, trials_[0].failure);
    Recognition recognition{.data = options_.data,
                            .metric = source_->metric(),
                            .evidence = source_->meaning(),
                            .least = source_->least(),
                            .images = source_->images(),
                            .trials = trials_};
    decide(recognition, options_.resample);
    return recognition;
  }

  const RecognitionOptions& options_;
  const RecognitionEvents& events_;
  std::unique_ptr<EvidenceSource> source_;
  ModelOptions model_options_;
  const Graph* graph_ = nullptr;         ///< of the model, while run() holds it
  std::set<const Decoder*> unnumbered_;  ///< those whose outputs do not tell the classes
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
