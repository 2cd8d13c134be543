#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// Models that choose among their boxes themselves (YOLOv10, v26, exports with NMS): rows x1, y1, x2, y2, score, class.
namespace saccade {
namespace {

bool fit(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_one(graph, head, [](const Shape& shape, Head& /*to*/) { return is_list(shape) && shape[2] == 6; });
}

bool is_chosen(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && graph.value(output_of(graph, head)).type.shape[1] <= 1000;
}

void attach(Attachment& to) {
  Node decoder{.domain = "saccade", .op = "DecodeEndToEnd", .inputs = {to.output(0), to.class_filter()}};
  to.set_candidate_attributes(decoder);
  to.choose(std::move(decoder));
}

}  // namespace

constexpr Decoder kYoloEndToEnd = {.name = "yolo-e2e",
                                   .reads = "rows x1, y1, x2, y2, score, class that need no suppression",
                                   .usual_pixels = ultralytics_pixels,
                                   .fit = fit,
                                   .recognises = is_chosen,
                                   .attach = attach,
                                   .selects_itself = true};

}  // namespace saccade
