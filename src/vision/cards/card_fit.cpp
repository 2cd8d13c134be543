#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "vision/cards/card_file.hpp"
#include "vision/cards/recognise.hpp"

// Applies a card file to its model.
namespace saccade {
namespace {

template <typename T>
void take(T& into, const std::optional<T>& said) {
  if (said) into = *said;
}

template <typename T>
void take(std::vector<T>& into, const std::vector<T>& said) {
  if (!said.empty()) into = said;
}

void apply(const HeadFile& said, Head& head) {
  take(head.outputs, said.outputs);
  take(head.labels, said.labels);
  take(head.strides, said.strides);
  take(head.anchors, said.anchors);
  take(head.conf, said.conf);
  if (said.iou) head.iou = said.iou;
  take(head.remap, said.remap);
  take(head.multi_label, said.multi_label);
  take(head.softmax, said.softmax);
  take(head.sigmoid, said.sigmoid);
  take(head.keypoints, said.keypoints);
  take(head.depth, said.depth);
  take(head.normalize, said.normalize);
  if (said.background) head.background = said.background;
  take(head.map_threshold, said.map_threshold);
  take(head.unclip_ratio, said.unclip_ratio);
  take(head.characters, said.characters);
}

/// Throws Error about a key of SAID's, naming its line.
template <typename... Args>
[[noreturn]] void reject(const HeadFile& said, std::string_view key, fmt::format_string<Args...> format,
                         Args&&... args) {
  fail(ErrorCode::kInvalidFile, "{}: 'output.{}' {}", said.places.find(key)->second, key,
       fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Error if SAID has a key that DECODER ignores.
void check_keys(const HeadFile& said, const Decoder& decoder) {
  const OutputKeys& uses = decoder.uses;
  for (const auto& [is_said, is_used, key] : {std::tuple{!said.labels.empty(), uses.labels, "labels"},
                                              {!said.conf.empty(), uses.conf, "conf"},
                                              {said.iou.has_value(), decoder.needs_nms(), "iou"},
                                              {!said.remap.empty(), uses.remap, "remap"},
                                              {said.multi_label.has_value(), uses.multi_label, "multi_label"},
                                              {!said.strides.empty(), uses.strides, "strides"},
                                              {!said.anchors.empty(), uses.anchors, "anchors"},
                                              {said.softmax.has_value(), uses.softmax, "softmax"},
                                              {said.sigmoid.has_value(), uses.sigmoid, "sigmoid"},
                                              {said.keypoints.has_value(), uses.keypoints, "keypoints"},
                                              {said.depth.has_value(), uses.depth, "depth"},
                                              {said.normalize.has_value(), uses.normalize, "normalize"},
                                              {said.background.has_value(), uses.background, "background"},
                                              {said.map_threshold.has_value(), uses.text_map, "map_threshold"},
                                              {said.unclip_ratio.has_value(), uses.text_map, "unclip_ratio"},
                                              {!said.characters.empty(), uses.characters, "characters"}})
    if (is_said && !is_used) reject(said, key, "is not read by the decoder {}", decoder.name);
}

/// Throws Error if SAID names an output that FITTED does not read, or one twice.
void check_names(const HeadFile& said, const Head& fitted) {
  if (said.outputs.size() > fitted.outputs.size())
    reject(said, "name", "names {} outputs, but the decoder {} reads {}: '{}'", said.outputs.size(),
           fitted.decoder->name, fitted.outputs.size(), fmt::join(fitted.outputs, "', '"));
}

/// Throws Error if other keys leave a key of SAID without effect. Classes exclude each other unless sigmoid or
/// multi_label is set, which applies the confidence threshold.
void check_classifier(const HeadFile& said, const Head& fitted) {
  if (fitted.decoder->task != Task::kClassify) return;
  if (said.multi_label && fitted.sigmoid) reject(said, "multi_label", "has no effect with sigmoid = true");
  if (!said.conf.empty() && !fitted.sigmoid && !fitted.multi_label)
    reject(said, "conf", "has no effect on a classifier without sigmoid = true or multi_label = true");
  if (said.conf.size() > 1) reject(said, "conf", "has {} thresholds, but a classifier has one", said.conf.size());
}

/// The number of the output's classes according to SAID; 0: unknown.
int said_classes(const HeadFile& said) {
  return static_cast<int>(said.remap.empty() ? said.labels.size() : said.remap.size());
}

/// Strides, points and the number of anchors are as the output has them: FITTED knows. Throws Error where SAID has
/// others.
void check_agreement(const HeadFile& said, const Head& fitted) {
  if (!said.strides.empty() && said.strides != fitted.strides)
    reject(said, "strides", "is [{}], but the output '{}' has [{}]", fmt::join(said.strides, ", "),
           fitted.outputs.front(), fmt::join(fitted.strides, ", "));
  if (said.keypoints && *said.keypoints != fitted.keypoints)
    reject(said, "keypoints", "is {}, but the output '{}' has {}", *said.keypoints, fitted.outputs.front(),
           fitted.keypoints);
  if (!said.anchors.empty() && said.anchors.size() != fitted.anchors.size())
    reject(said, "anchors", "has {} sizes, which does not match the output's {} levels", said.anchors.size() / 2,
           fitted.strides.size());
}

/// A head of DECODER's as SAID, fitted to the model. CLASSES are those that the metadata names; what SAID names counts
/// more, and what the output tells counts most.
Head fit_as_said(const HeadFile& said, const Decoder& decoder, int classes, const Graph& graph, const Card& card) {
  check_keys(said, decoder);
  const int named = said_classes(said);
  Head head{.decoder = &decoder, .classes = named == 0 || named == classes ? classes : 0};
  apply(said, head);
  Head unguided = head;
  unguided.strides.clear();
  unguided.keypoints = 0;
  unguided.anchors.clear();
  try {
    fit_output(graph, card, head);
  } catch (const Error&) {
    // Without the keys that may be wrong, the output determines them.
    if (decoder.fit(graph, card, unguided)) check_agreement(said, unguided);
    throw;
  }
  check_names(said, head);
  check_agreement(said, head);
  check_classifier(said, head);
  // Whether scores are logits, and the meaning of a depth, are only inferred if the card omits them.
  take(head.softmax, said.softmax);
  take(head.depth, said.depth);
  return head;
}

/// The keys of [track], on a CARD whose inputs are known.
void apply(const TrackImages& said, Card& card) {
  if (!card.track)
    fail(ErrorCode::kInvalidFile, "[track] is for a model with two images as inputs, but the model has one, '{}'",
         card.input);
  if (!said.input.empty() && said.input != card.track->input)
    fail(ErrorCode::kInvalidFile, "the target's image is the input '{}', not '{}' ('track.target')", card.track->input,
         said.input);
  card.track->target_factor = said.target_factor;
  card.track->search_factor = said.search_factor;
}

}  // namespace

Card card_of(const CardFile& said, const Graph& graph) {
  Card card = default_card(*said.heads.front().decoder);
  card.heads.clear();
  card.track = said.track;
  recognise_input(graph, card);
  for (const HeadFile& from : said.heads) card.heads.push_back(fit_as_said(from, *from.decoder, 0, graph, card));
  return card;
}

void apply(const CardFile& said, const Graph& graph, Card& card) {
  if (said.task && *said.task != card.task())
    fail(ErrorCode::kInvalidFile, "the task is '{}', but the decoder '{}' is for '{}'", to_string(*said.task),
         card.head().decoder->name, to_string(card.task()));
  if (said.input && *said.input != card.input)
    fail(ErrorCode::kInvalidFile, "the model's input is '{}', not '{}'", card.input, *said.input);
  if (said.size && *said.size != std::array{card.width, card.height})
    fail(ErrorCode::kInvalidFile, "the size is {}x{}, but the model takes {}x{} (width x height)", (*said.size)[0],
         (*said.size)[1], card.width, card.height);
  const bool gray = card.color == ChannelOrder::kGray;
  take(card.color, said.color);
  if (gray != (card.color == ChannelOrder::kGray))
    fail(ErrorCode::kInvalidFile, "the color is '{}', but the model takes {}",
         kColorNames[static_cast<std::size_t>(card.color)], gray ? "one channel" : "three channels");
  if (said.roi) card.roi = said.roi;
  take(card.resize, said.resize);
  take(card.resize_to, said.resize_to);
  take(card.interpolation, said.interpolation);
  take(card.pad, said.pad);
  take(card.scale, said.scale);
  take(card.mean, said.mean);
  take(card.std, said.std);
  if (is_crop(card.resize) && card.resize_to == 0) card.resize_to = std::max(card.width, card.height);
  if (said.heads.size() == 1 && !said.names_decoders())
    card.heads.front() = fit_as_said(said.heads.front(), *card.head().decoder, metadata_classes(graph), graph, card);
  if (said.track) apply(*said.track, card);
  card.second = said.second;
  card.origin = "card " + said.path.string();
  card.assumptions.clear();
}

void check_effects(const CardFile& said, const Card& card) {
  const std::string_view resize = kResizeNames[static_cast<std::size_t>(card.resize)];
  const auto refuse = [&](std::string_view key, std::string_view wanted) {
    fail(ErrorCode::kInvalidFile, "{}: 'input.{}' has no effect with resize = '{}': it applies to {}",
         said.places.find(key)->second, key, resize, wanted);
  };
  if (said.resize_to && !is_crop(card.resize)) refuse("resize_to", "resize = \"resize-crop\" or \"resize-crop-floor\"");
  const bool pads = card.resize == ResizeMode::kLetterbox || card.resize == ResizeMode::kLetterboxTopLeft;
  // Black is what inspect --write-card once wrote for all.
  if (said.pad && *said.pad != std::array{0, 0, 0} && !pads)
    refuse("pad", "resize = \"letterbox\" or \"letterbox-topleft\"");
}

}  // namespace saccade
