#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saccade/model.hpp"
#include "validate/resample.hpp"
#include "vision/cards/card.hpp"

namespace saccade {

struct RecognitionOptions {
  std::string file;         ///< the model
  ModelOptions model;       ///< its card and post-processing are ignored
  std::string data;         ///< "coco:FOLDER" or "imagenet:FOLDER", or a folder of images without labels
  std::int64_t limit = 20;  ///< images at most, spread evenly over the data; 0: all
  ResampleOptions resample;
};

/// A card that was tried on all images.
struct CardTrial {
  Card card;
  std::string summary;            ///< "yolov8: rgb, 0..1, letterbox"
  bool is_default = false;        ///< what the model would get without a card
  double metric = -1;             ///< AP or top-1 on labelled images; -1: none
  double evidence = 0;            ///< mean over the images that have evidence with any card, which decides
  std::int64_t counted = 0;       ///< images with evidence
  Resampled behind;               ///< the best card's evidence minus this one's
  std::string failure;            ///< why the card could not be tried; empty if it was
  std::vector<double> images;     ///< evidence by image; NaN: none
  std::uint64_t predictions = 0;  ///< a hash: cards of one value predict the same
};

/// Fewer images with evidence decide nothing: the bootstrap's interval is too narrow.
inline constexpr std::int64_t kFewestEvidence = 10;

/// What cards differ in.
enum class CardAxis : std::uint8_t { kDecoder, kLabels, kColor, kNormalization, kResize, kInterpolation };
inline constexpr int kCardAxes = 6;

/// What the images say about the cards.
enum class CardVerdict : std::uint8_t {
  kBest,     ///< one card is better than all others, but for its interpolation
  kResize,   ///< several are too close to tell that differ in resize and interpolation alone
  kDefault,  ///< several are too close to tell, and the chosen one has the default's values where they differ
  kTie,      ///< several are too close to tell, and the default's values are probably worse
  kFew,      ///< fewer than kFewestEvidence images have evidence for the best
  kNone,     ///< no card gives right or stable predictions
};

struct Recognition {
  std::string data;
  std::string metric;    ///< "ap", "top1"; empty: the images have no labels
  std::string evidence;  ///< what CardTrial::evidence is
  double least = 0;      ///< evidence of the best card below which no card is right
  std::size_t images = 0;
  std::vector<CardTrial> trials;  ///< in descending order of evidence, failed ones last
  std::size_t close = 1;          ///< how many of the first are too close to tell
  CardVerdict verdict = CardVerdict::kNone;
  std::size_t chosen = 0;           ///< index of the card to use; else of the best
  std::vector<CardAxis> undecided;  ///< what the close cards differ in from the chosen one

  /// The card to use; null: none.
  const Card* card() const {
    const bool is_told =
        verdict == CardVerdict::kBest || verdict == CardVerdict::kResize || verdict == CardVerdict::kDefault;
    return is_told ? &trials[chosen].card : nullptr;
  }
};

struct RecognitionEvents {
  std::function<void(const std::string& what, double share)> progress;
  std::function<bool()> stop = [] { return false; };
};

/// Tries the cards that could describe a model on images: every decoder that fits, each with the usual channel orders
/// and normalizations, then the best one with each way to resize, then the chosen one with each interpolation.
///
/// An image's evidence is, with labels, its own AP or the logarithm of the probability of its true class. Without
/// labels it is how confident predictions are that the mirrored image confirms: for a classifier how certain both are
/// of the other's best class, above what other images are of it, for detections the sum over matched boxes (IoU of 0.5
/// and more), less half the confidence of the others; boxes of nearly the whole frame do not count. An image without
/// any prediction is no evidence. Two cards are too close to tell if the paired bootstrap's interval of the difference
/// of their evidence includes 0.
///
/// Throws Error if the model or the data can't be used, or if no card could be tried.
Recognition recognise_on(const RecognitionOptions& options, const RecognitionEvents& events);

/// "color": the keys of a card that an axis stands for.
std::string_view to_string(CardAxis axis);

std::string to_text(const Recognition& recognition);
std::string to_json(const Recognition& recognition);

}  // namespace saccade
