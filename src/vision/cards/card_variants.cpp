#include "vision/cards/card_variants.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/dispatch.hpp"
#include "vision/cards/card_file.hpp"
#include "vision/cards/recognise.hpp"
#include "vision/decoders/support.hpp"

namespace saccade {
namespace {

using Triple = std::array<float, 3>;

/// tensor = (pixel * scale - mean) / std, for RGB.
struct Normalization {
  std::string_view name;
  float scale;
  Triple mean;
  Triple std;
};
constexpr std::string_view kClip = "CLIP's mean and std";
// The values of torchvision's and timm's models, of OpenAI's CLIP and of Caffe's reference models.
constexpr Normalization kNormalizations[] = {
    {"0..1", 1 / 255.0F, {0, 0, 0}, {1, 1, 1}},
    {"0..255", 1, {0, 0, 0}, {1, 1, 1}},
    {"ImageNet mean and std", 1 / 255.0F, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}},
    {"-1..1", 1 / 127.5F, {1, 1, 1}, {1, 1, 1}},
    {"Caffe's mean", 1, {123, 117, 104}, {1, 1, 1}},
    {kClip, 1 / 255.0F, {0.48145466F, 0.4578275F, 0.40821073F}, {0.26862954F, 0.26130258F, 0.27577711F}},
};

Triple ordered(Triple rgb, ChannelOrder order) {
  if (order == ChannelOrder::kBgr) std::swap(rgb[0], rgb[2]);
  return rgb;
}

/// Differences below what changes a pixel's value by a hundredth of a level.
bool is_near(float a, float b) { return std::abs(a - b) <= 1e-4F * std::max(std::abs(a), std::abs(b)) + 1e-6F; }

/// Whether both normalize alike: by the factor and the offset of each channel.
bool normalizes(const Card& card, const Normalization& by) {
  const Triple mean = ordered(by.mean, card.color);
  const Triple std = ordered(by.std, card.color);
  for (std::size_t c = 0; c < 3; ++c)
    if (!is_near(card.scale / card.std[c], by.scale / std[c]) || !is_near(card.mean[c] / card.std[c], mean[c] / std[c]))
      return false;
  return true;
}

std::string normalization_name(const Card& card) {
  const auto known = std::ranges::find_if(kNormalizations, [&](const auto& each) { return normalizes(card, each); });
  if (known != std::end(kNormalizations)) return std::string(known->name);
  return fmt::format("scale {:.4g}, mean [{:.4g}], std [{:.4g}]", card.scale, fmt::join(card.mean, ", "),
                     fmt::join(card.std, ", "));
}

bool takes_integers(const Card& card, const Graph& graph) {
  return is_integer(graph.value(find_value(graph, graph.inputs(), card.input)).type.dtype);
}

/// Detectors do not have CLIP's values, which images hardly tell from ImageNet's.
bool may_have(const Card& card, const Normalization& by) {
  return by.name != kClip || card.task() == Task::kClassify || card.task() == Task::kEmbed;
}

bool is_same(const Card& a, const Card& b) { return to_toml(a) == to_toml(b); }

void add_new(std::vector<Card>& cards, Card card) {
  if (std::ranges::none_of(cards, [&](const Card& each) { return is_same(each, card); }))
    cards.push_back(std::move(card));
}

/// Adds CARD with output class PLACES[i] as class i. PLACES ascend.
void add_renumbered(std::vector<Card>& cards, Card card, const std::vector<std::int64_t>& places) {
  const bool is_plain = places.front() == 0 && places.back() == std::ssize(places) - 1;
  if (is_plain || places.front() < 0 || places.back() >= kMostClasses) return;
  std::vector<int>& remap = card.heads.front().remap;
  remap.assign(static_cast<std::size_t>(places.back() + 1), -1);
  for (std::size_t i = 0; i < places.size(); ++i) remap[static_cast<std::size_t>(places[i])] = static_cast<int>(i);
  add_new(cards, std::move(card));
}

/// False if CARD's labels, classes and remap contradict.
bool has_labels(const Graph& graph, Card& card) {
  try {
    complete_labels(graph, card);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<Card> possible_cards(const Graph& graph) {
  std::vector<Card> cards;
  std::string why;
  if (auto card = recognise(graph, why); card && has_labels(graph, *card)) cards.push_back(*std::move(card));
  for (Card& card : fitting_cards(graph)) {
    const auto is_same_decoder = [&](const Card& other) { return other.head().decoder == card.head().decoder; };
    if (std::ranges::none_of(cards, is_same_decoder) && has_labels(graph, card)) cards.push_back(std::move(card));
  }
  return cards;
}

std::vector<Card> with_each_normalization(const Card& card, const Graph& graph) {
  std::vector<Card> cards{card};
  const bool is_gray = card.color == ChannelOrder::kGray;
  const std::vector<ChannelOrder> orders =
      is_gray ? std::vector{ChannelOrder::kGray} : std::vector{ChannelOrder::kRgb, ChannelOrder::kBgr};
  for (const ChannelOrder order : orders) {
    Card other = card;
    other.color = order;
    if (takes_integers(card, graph)) {
      add_new(cards, std::move(other));
      continue;
    }
    for (const Normalization& by : kNormalizations) {
      if (!may_have(card, by)) continue;
      other.scale = by.scale;
      other.mean = ordered(by.mean, order);
      other.std = ordered(by.std, order);
      if (!(normalizes(card, by) && order == card.color)) add_new(cards, other);
    }
  }
  return cards;
}

std::vector<Card> with_each_resize(const Card& card) {
  constexpr int kPadding = 114;  // of YOLO models
  std::vector<Card> cards{card};
  const int side = std::max(card.width, card.height);
  const bool classifies = card.task() == Task::kClassify;
  for (const ResizeMode mode : {ResizeMode::kStretch, ResizeMode::kLetterbox, ResizeMode::kLetterboxTopLeft}) {
    if (classifies && mode != ResizeMode::kStretch) continue;
    Card other = card;
    other.resize = mode;
    other.resize_to = 0;
    if (mode == ResizeMode::kStretch) other.pad = {};
    if (mode != ResizeMode::kStretch && card.resize == ResizeMode::kStretch) other.pad = {kPadding, kPadding, kPadding};
    add_new(cards, std::move(other));
  }
  if (!classifies) return cards;
  // The short side of torchvision's and timm's evaluation: crops of 87.5 %, 90 %, 95 % and all of it.
  for (const double share : {0.875, 0.9, 0.95, 1.0}) {
    Card other = card;
    other.resize = ResizeMode::kResizeCrop;
    other.resize_to = static_cast<int>(side / share);
    other.pad = {};
    add_new(cards, std::move(other));
  }
  return cards;
}

std::vector<Card> with_each_interpolation(const Card& card) {
  std::vector<Card> cards{card};
  for (const Interpolation each : {Interpolation::kBilinear, Interpolation::kBilinearAntialias,
                                   Interpolation::kBicubicAntialias, Interpolation::kArea}) {
    Card other = card;
    other.interpolation = each;
    add_new(cards, std::move(other));
  }
  return cards;
}

bool has_unknown_classes(const Card& card) {
  const Head& head = card.head();
  return head.decoder->uses.labels && head.classes == 0 && !head.labels.empty() && head.labels.front() == "0";
}

std::vector<Card> with_each_numbering(const Card& card, std::vector<NumberedClass> classes) {
  std::vector<Card> cards{card};
  if (classes.empty() || classes.size() > kMostClasses) return cards;
  std::ranges::sort(classes, {}, &NumberedClass::id);
  Card named = card;
  Head& head = named.heads.front();
  head.labels.clear();
  head.remap.clear();
  std::vector<std::int64_t> after_background;
  std::vector<std::int64_t> by_id;
  for (const NumberedClass& each : classes) {
    head.labels.push_back(each.name);
    after_background.push_back(std::ssize(head.labels));
    by_id.push_back(each.id - head.decoder->first_class);
  }
  head.classes = static_cast<int>(classes.size());
  cards.push_back(named);
  if (head.decoder->first_class == 0) add_renumbered(cards, named, after_background);
  add_renumbered(cards, named, by_id);
  return cards;
}

Card with_pixels_of(Card card, const Card& from) {
  card.color = from.color;
  card.resize = from.resize;
  card.resize_to = from.resize_to;
  card.interpolation = from.interpolation;
  card.pad = from.pad;
  card.scale = from.scale;
  card.mean = from.mean;
  card.std = from.std;
  return card;
}

Interpolation usual_interpolation(const Card& card) { return default_card(*card.head().decoder).interpolation; }

bool has_same_normalization(const Card& a, const Card& b) {
  const Normalization of_b{{}, b.scale, ordered(b.mean, b.color), ordered(b.std, b.color)};
  return normalizes(a, of_b);
}

std::string summary_of(const Card& card) {
  std::string text =
      fmt::format("{}: {}, {}, {}", card.head().decoder->name, kColorNames[static_cast<std::size_t>(card.color)],
                  normalization_name(card), kResizeNames[static_cast<std::size_t>(card.resize)]);
  if (is_crop(card.resize)) text += fmt::format(" {}", card.resize_to);
  if (card.interpolation != usual_interpolation(card))
    text += fmt::format(", {}", kInterpolationNames[static_cast<std::size_t>(card.interpolation)]);
  return text;
}

}  // namespace saccade
