#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// RT-DETR, D-FINE and DEIM with their post-processor in the graph: labels [1, N], boxes [1, N, 4] (corners in the
// pixels that the input orig_target_sizes names) and scores [1, N].
namespace saccade {
namespace {

bool fit(const Graph& graph, const Card& /*card*/, Head& head) {
  const Value* labels = find_role(graph, head, 0, "label", 2);
  const Value* boxes = find_role(graph, head, 1, "box", 3);
  const Value* scores = find_role(graph, head, 2, "score", 2);
  if (labels == nullptr || boxes == nullptr || scores == nullptr) return false;
  const Shape& shape = boxes->type.shape;
  const Shape list{1, shape[1]};
  if (shape[0] != 1 || shape[2] != 4 || labels->type.shape != list || scores->type.shape != list) return false;
  head.outputs = {labels->name, boxes->name, scores->name};
  return assume_classes(head, 80);  // they are trained on COCO unless a card has other labels
}

bool is_chosen(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && std::ranges::any_of(graph.inputs(), [&](ValueId input) {
           return graph.value(input).name == "orig_target_sizes";
         });
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const std::int64_t count = post.shape(to.output(1))[1];
  const ValueId scores = post.reshape(to.output(2), {1, count, 1});
  const ValueId labels = post.reshape(to.output(0), {1, count, 1});
  Node decoder{.domain = "saccade",
               .op = "DecodeEndToEnd",
               .inputs = {post.concat({to.output(1), scores, labels}, 2), to.class_filter()}};
  to.set_candidate_attributes(decoder);
  to.choose(std::move(decoder));
}

}  // namespace

constexpr Decoder kDetrEndToEnd = {.name = "detr-e2e",
                                   .reads = "selected labels, boxes and scores (RT-DETR, D-FINE, DEIM)",
                                   .shapes = "[1, N], [1, N, 4] and [1, N]",
                                   .usual_pixels = stretched_pixels,
                                   .fit = fit,
                                   .recognises = is_chosen,
                                   .attach = attach,
                                   .selects_itself = true,
                                   .uses = {.multi_label = false}};

}  // namespace saccade
