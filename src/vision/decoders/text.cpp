#include "vision/cards/characters.hpp"
#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// Text: a map of where it is (DB: Liao et al. 2020), and the characters of a line (CTC).
namespace saccade {
namespace {

constexpr float kBoxThreshold = 0.6F;  // PaddleOCR's box_thresh

/// PaddleOCR reads images as BGR and normalises them by ImageNet's numbers in this order, without swapping either.
void text_map_pixels(Card& card) {
  stretched_imagenet_pixels(card);
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kLetterboxTopLeft;
}

/// A line of the input's height, padded at the right. PaddleOCR pads with 0 after normalisation, 127.5 before it.
void text_line_pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.scale = 1;
  card.pad = {128, 128, 128};
  card.mean = {127.5F, 127.5F, 127.5F};
  card.std = {127.5F, 127.5F, 127.5F};
}

/// The map has the image's size, or that of a grid of whole pixels per cell.
bool fit_text_map(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    if (shape.rank() != 4 || shape[0] != 1 || shape[1] != 1 || shape[2] < 1 || shape[3] < 1) return false;
    if (card.width % shape[3] != 0 || card.width / shape[3] * shape[2] != card.height) return false;
    if (!set_class_count(to, 1)) return false;
    if (to.labels.empty()) to.labels = {"text"};
    if (to.conf.empty()) to.conf = {kBoxThreshold};
    return true;
  });
}

void attach_text_map(Attachment& to) {
  const ValueId map = to.output(0);
  const Shape shape = to.post.shape(map);
  to.predictions.text_map = {.cells = to.outputs.add(to.post.reshape(map, {shape[2], shape[3]}))};
}

/// Without a list of characters any [1, T, C] could be text.
bool fit_text(const Graph& graph, const Card& /*card*/, Head& head) {
  if (head.characters.empty() && metadata_characters(graph).empty()) return false;
  const bool fits = fit_one(graph, head, [](const Shape& shape, Head& /*to*/) {
    return is_list(shape) && shape[1] > 0 && shape[2] > 2 && shape[2] <= kMostClasses;
  });
  if (fits) head.softmax = makers(graph, output_of(graph, head)) != std::set<std::string>{"Softmax"};
  return fits;
}

bool is_text(const Graph& graph, const Card& /*card*/, const Head& head) {
  const Shape& shape = graph.value(output_of(graph, head)).type.shape;
  return reads_all(graph, head) && are_characters_of(shape[2], metadata_characters(graph).size());
}

void attach_text(Attachment& to) {
  Fragment& post = to.post;
  ValueId scores = to.output(0);
  if (to.head.softmax) scores = post.op("Softmax", {scores}, {{"axis", std::int64_t{2}}});
  const std::int64_t columns = post.shape(scores)[1];
  const auto column_wise = [&](const char* op) {
    return post.reshape(post.op(op, {scores, post.ints({2})}, {{"keepdims", std::int64_t{0}}}), {columns});
  };
  const ValueId best = post.op("ArgMax", {scores}, {{"axis", std::int64_t{2}}, {"keepdims", std::int64_t{0}}});
  to.predictions.text = {.classes = to.outputs.add(post.cast(post.reshape(best, {columns}), DType::kInt32)),
                         .scores = to.outputs.add(column_wise("ReduceMax")),
                         .norms = to.outputs.add(column_wise("ReduceL1"))};
}

}  // namespace

constexpr Decoder kDb = {.name = "db",
                         .reads = "the probability of text per cell (PP-OCR's DB; `map_threshold`, `unclip_ratio`)",
                         .shapes = "[1, 1, h, w], the input's height and width divided by one integer",
                         .task = Task::kOriented,
                         .usual_pixels = text_map_pixels,
                         .fit = fit_text_map,
                         .recognises = nullptr,
                         .attach = attach_text_map,
                         .selects_itself = true,
                         .uses = {.remap = false, .multi_label = false, .text_map = true}};
constexpr Decoder kCtc = {
    .name = "ctc",
    .reads = "scores or logits of characters per column of a line, the blank first (PP-OCR; `characters`, `softmax`)",
    .shapes = "[1, T, C] and a list of C - 1 or C - 2 `characters`",
    .task = Task::kText,
    .usual_pixels = text_line_pixels,
    .fit = fit_text,
    .recognises = is_text,
    .attach = attach_text,
    .uses = {.labels = false, .conf = false, .remap = false, .multi_label = false, .softmax = true, .characters = true},
    .assumes = "PP-OCR's preprocessing (input.color, input.resize, input.mean, input.std)"};

}  // namespace saccade
