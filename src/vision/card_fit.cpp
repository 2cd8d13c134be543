#include <algorithm>

#include "base/error.hpp"
#include "vision/card_file.hpp"
#include "vision/recognise.hpp"

// What a card's file says, brought together with its model.
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
  take(head.remap, said.remap);
  take(head.multi_label, said.multi_label);
  take(head.softmax, said.softmax);
  take(head.sigmoid, said.sigmoid);
  take(head.keypoints, said.keypoints);
  take(head.depth, said.depth);
}

/// What the card says guides which outputs fit, and wins over what these say.
void fit_as_said(const HeadFile& said, const Graph& graph, const Card& card, Head& head) {
  apply(said, head);
  fit_output(graph, card, head);
  std::vector<std::string> outputs = std::move(head.outputs);
  apply(said, head);
  head.outputs = std::move(outputs);
}

}  // namespace

Card card_of(const CardFile& said, const Graph& graph) {
  Card card = default_card(*said.heads.front().decoder);
  card.heads.clear();
  recognise_input(graph, card);
  for (const HeadFile& from : said.heads) {
    Head head{.decoder = from.decoder};
    fit_as_said(from, graph, card, head);
    card.heads.push_back(std::move(head));
  }
  return card;
}

void apply(const CardFile& said, const Graph& graph, Card& card) {
  if (said.heads.size() > 1 && !said.names_decoders())
    fail(ErrorCode::kInvalidFile, "each of several outputs must name its decoder");
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
  take(card.pad, said.pad);
  take(card.scale, said.scale);
  take(card.mean, said.mean);
  take(card.std, said.std);
  if (card.resize == ResizeMode::kResizeCrop && card.resize_to == 0) card.resize_to = std::max(card.width, card.height);
  if (said.heads.size() == 1 && !said.names_decoders()) {
    Head& head = card.heads.front();
    const bool other =
        !said.heads[0].outputs.empty() || !said.heads[0].strides.empty() || !said.heads[0].anchors.empty();
    // What a decoder remaps itself, it does for the usual labels.
    if (!said.heads[0].labels.empty() && said.heads[0].remap.empty()) head.remap.clear();
    if (other)
      fit_as_said(said.heads[0], graph, card, head);
    else
      apply(said.heads[0], head);
  }
  card.origin = "card " + said.path.string();
  card.assumptions.clear();
}

}  // namespace saccade
