#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "vision/decoders/chosen.hpp"
#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// PP-YOLOE and PicoDet of PaddleDetection, with boxes x1, y1, x2, y2 in the pixels that the inputs im_shape and
// scale_factor name. Without NMS: boxes [1, A, 4] and scores [1, C, A], one row per cell, of strides 8, 16, 32
// (PP-YOLOE) or 8, 16, 32, 64 (PicoDet). With NMS: rows [N, 6] of class, score, box, and their number.
namespace saccade {
namespace {

const std::vector<int> kPpyoloeStrides = {8, 16, 32};
const std::vector<int> kPicoDetStrides = {8, 16, 32, 64};
constexpr std::int64_t kRowNumbers = 6;

/// The boxes and scores of ROWS cells: those that HEAD names, else by shape.
bool fit_cells(const Graph& graph, Head& head, std::int64_t rows) {
  for (ValueId first : readable_outputs(graph, head)) {
    if (graph.value(first).type.shape != Shape{1, rows, 4}) continue;
    for (ValueId second : readable_outputs(graph, head)) {
      const Shape& scores = graph.value(second).type.shape;
      if (first == second || !is_list(scores) || scores[2] != rows) continue;
      if (!set_class_count(head, scores[1])) return false;
      head.outputs = {graph.value(first).name, graph.value(second).name};
      return true;
    }
  }
  return false;
}

bool fit_ppyoloe(const Graph& graph, const Card& card, Head& head) {
  return fit_cells(graph, head, cells_rounded_up(card, kPpyoloeStrides));
}
bool fit_picodet(const Graph& graph, const Card& card, Head& head) {
  return fit_cells(graph, head, cells_rounded_up(card, kPicoDetStrides));
}

/// PaddleDetection names its image so.
bool has_cells(const Graph& graph, const Card& card, const Head& head) {
  return reads_all(graph, head) && card.input == "image" && ends_in(graph, head.outputs[1], "Sigmoid");
}

void attach_cells(Attachment& to) { to.choose(to.output(0), to.post.transpose(to.output(1), {0, 2, 1})); }

/// Rows [N, 6], and their number as the second output.
bool fit_rows(const Graph& graph, const Card& /*card*/, Head& head) {
  const Value* rows = nullptr;
  const Value* count = nullptr;
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    const Shape& shape = value.type.shape;
    if (rows == nullptr && shape.rank() == 2 && shape[0] > 0 && shape[1] == kRowNumbers) rows = &value;
    if (count == nullptr && shape == Shape{1} && is_integer(value.type.dtype)) count = &value;
  }
  if (rows == nullptr || count == nullptr) return false;
  head.outputs = {rows->name, count->name};
  return true;
}

bool has_size_input(const Graph& graph) {
  return std::ranges::any_of(graph.inputs(), [&](ValueId input) { return graph.value(input).name == "scale_factor"; });
}

/// Whether the model suppresses boxes of ROWS anchors.
bool suppresses(const Graph& graph, std::int64_t rows) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return node.is("NonMaxSuppression") && graph.value(node.inputs[0]).type.shape == Shape{1, rows, 4};
  });
}

bool has_rows(const Graph& graph, const Card& card, const Head& head) {
  return reads_all(graph, head) && card.input == "image" && has_size_input(graph);
}

/// PaddleDetection's other detectors give the same rows, but not from one row per cell.
bool is_ppyoloe(const Graph& graph, const Card& card, const Head& head) {
  return has_rows(graph, card, head) && suppresses(graph, cells_rounded_up(card, kPpyoloeStrides));
}
bool is_picodet(const Graph& graph, const Card& card, const Head& head) {
  return has_rows(graph, card, head) && suppresses(graph, cells_rounded_up(card, kPicoDetStrides));
}

void attach_rows(Attachment& to) {
  Fragment& post = to.post;
  const ValueId rows = to.output(0);
  const auto column = [&](std::int64_t begin, std::int64_t end) { return post.slice(rows, 1, begin, end); };
  ValueId count = count_of(post.graph(), to.head.outputs[0]);
  if (count == ValueId::kNone) count = to.output(1);
  choose_lists(to, {.boxes = column(2, 6), .scores = column(1, 2), .classes = column(0, 1)}, count);
}

constexpr std::string_view kPlainPixels = "pixels of 0..1 as in PP-YOLOE+; PP-YOLOE needs ImageNet's mean and std";

}  // namespace

constexpr Decoder kPpyoloe = {.name = "ppyoloe",
                              .reads = "PP-YOLOE's boxes x1, y1, x2, y2 in pixels, and scores",
                              .shapes = "[1, A, 4] and [1, C, A], A cells of strides 8, 16, 32",
                              .usual_pixels = paddle_pixels,
                              .fit = fit_ppyoloe,
                              .recognises = has_cells,
                              .attach = attach_cells,
                              .assumes = kPlainPixels};
constexpr Decoder kPicoDet = {.name = "picodet",
                              .reads = "PicoDet's boxes x1, y1, x2, y2 in pixels, and scores",
                              .shapes = "[1, A, 4] and [1, C, A], A cells of strides 8, 16, 32, 64",
                              .usual_pixels = paddle_imagenet_pixels,
                              .fit = fit_picodet,
                              .recognises = has_cells,
                              .attach = attach_cells};
constexpr Decoder kPpyoloeEndToEnd = {.name = "ppyoloe-e2e",
                                      .reads = "rows class, score, x1, y1, x2, y2 and their number (PP-YOLOE)",
                                      .shapes = "[N, 6] and integers [1]",
                                      .usual_pixels = paddle_pixels,
                                      .fit = fit_rows,
                                      .recognises = is_ppyoloe,
                                      .attach = attach_rows,
                                      .selects_itself = true,
                                      .uses = {.multi_label = false},
                                      .assumes = kPlainPixels};
constexpr Decoder kPicoDetEndToEnd = {.name = "picodet-e2e",
                                      .reads = "rows class, score, x1, y1, x2, y2 and their number (PicoDet)",
                                      .shapes = "[N, 6] and integers [1]",
                                      .usual_pixels = paddle_imagenet_pixels,
                                      .fit = fit_rows,
                                      .recognises = is_picodet,
                                      .attach = attach_rows,
                                      .selects_itself = true,
                                      .uses = {.multi_label = false}};

}  // namespace saccade
