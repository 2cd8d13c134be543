#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// YOLO-NAS without NMS: boxes [1, A, 4] (corners in pixels) and scores [1, A, C], one row per cell.
namespace saccade {
namespace {

/// Other rows have other boxes.
bool fit_cells(const Graph& graph, const Card& card, Head& head) {
  const auto [scores, boxes] = find_scores_and_boxes(graph, head, "scores", "boxes");
  if (boxes == nullptr || strides_for(card, boxes->type.shape[1]).empty()) return false;
  if (!set_class_count(head, scores->type.shape[2])) return false;
  head.outputs = {scores->name, boxes->name};
  return true;
}

void attach(Attachment& to) { to.choose(to.output(1), to.output(0)); }

}  // namespace

constexpr Decoder kYoloNas = {.name = "yolo-nas",
                              .reads = "scores and boxes x1, y1, x2, y2 in pixels (YOLO-NAS)",
                              .shapes = "[1, A, C] and [1, A, 4], A cells of consecutive strides",
                              .usual_pixels = ultralytics_pixels,
                              .fit = fit_cells,
                              .attach = attach};

}  // namespace saccade
