#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// Ultralytics' RT-DETR in one output: rows x, y, width, height (centre, normalized), followed by one probability per
// class [1, Q, 4 + C] or, as the head selects its best since version 8.4, by score and class [1, N, 6].
namespace saccade {
namespace {

constexpr std::int64_t kUsualQueries = 1000;

/// Deformable attention reads feature maps by GridSample, or Ultralytics' metadata names the head.
bool has_detr_decoder(const Graph& graph) {
  const auto head = graph.metadata.find("head");
  if (head != graph.metadata.end()) return head->second == "RTDETRDecoder";
  return std::ranges::any_of(graph.order(), [&](NodeId id) { return graph.node(id).is("GridSample"); });
}

bool fit_scores(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_one(graph, head, [](const Shape& shape, Head& to) {
    return is_list(shape) && shape[1] <= kMostQueries && set_class_count(to, shape[2] - 4);
  });
}

/// Boxes and scores come from sigmoids. Other classes than COCO's need the decoder as evidence.
bool has_scores(const Graph& graph, const Card& /*card*/, const Head& head) {
  const ValueId output = output_of(graph, head);
  if (!reads_all(graph, head) || graph.value(output).type.shape[1] > kUsualQueries) return false;
  return makers(graph, output) == std::set<std::string>{"Sigmoid"} && (head.classes == 80 || has_detr_decoder(graph));
}

void attach_scores(Attachment& to) {
  Fragment& post = to.post;
  const ValueId rows = to.output(0);
  to.choose(to_pixels(to, corners_of(post, post.slice(rows, 2, 0, 4))),
            post.slice(rows, 2, 4, 4 + to.head.output_classes()));
}

bool fit_selected(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_one(graph, head, [](const Shape& shape, Head& /*to*/) {
    return is_list(shape) && shape[1] <= kMostQueries && shape[2] == 6;
  });
}

/// YOLO's rows of six have boxes in pixels.
bool is_selected(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && has_detr_decoder(graph);
}

void attach_selected(Attachment& to) {
  Fragment& post = to.post;
  const ValueId rows = to.output(0);
  const ValueId boxes = to_pixels(to, corners_of(post, post.slice(rows, 2, 0, 4)));
  Node decoder{.domain = "saccade",
               .op = "DecodeEndToEnd",
               .inputs = {post.concat({boxes, post.slice(rows, 2, 4, 6)}, 2), to.class_filter()}};
  to.set_candidate_attributes(decoder);
  to.choose(std::move(decoder));
}

}  // namespace

constexpr Decoder kRtDetrRows = {.name = "rtdetr-rows",
                                 .reads = "normalized x, y, w, h and one score per class (RT-DETR of Ultralytics)",
                                 .shapes = "[1, Q, 4 + C], Q at most 2000",
                                 .usual_pixels = stretched_pixels,
                                 .fit = fit_scores,
                                 .recognises = has_scores,
                                 .attach = attach_scores,
                                 .selects_itself = true};
constexpr Decoder kRtDetrEndToEnd = {
    .name = "rtdetr-e2e",
    .reads = "normalized x, y, w, h, score, class that need no NMS (RT-DETR of Ultralytics)",
    .shapes = "[1, N, 6], N at most 2000",
    .usual_pixels = stretched_pixels,
    .fit = fit_selected,
    .recognises = is_selected,
    .attach = attach_selected,
    .selects_itself = true,
    .uses = {.multi_label = false}};

}  // namespace saccade
