#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// RF-DETR: boxes "dets" [1, Q, 4] (normalized centre x, y, width, height) and logits "labels" [1, Q, C]; RF-DETR-seg
// also "masks" [1, Q, h, w], logits. saccade.SelectQueries implements its post-processing.
namespace saccade {
namespace {

struct Queries {
  const Value* boxes = nullptr;
  const Value* logits = nullptr;
  const Value* masks = nullptr;
};

/// By shape, in order: boxes have four numbers, masks are planes.
Queries queries_of(const Graph& graph, const Head& head) {
  Queries found;
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    const Shape& shape = value.type.shape;
    if (shape.rank() == 4 && shape[0] == 1 && found.masks == nullptr)
      found.masks = &value;
    else if (is_list(shape) && shape[2] == 4 && found.boxes == nullptr)
      found.boxes = &value;
    else if (is_list(shape) && found.logits == nullptr)
      found.logits = &value;
  }
  return found;
}

bool fit_queries(const Graph& graph, Head& head, bool masks) {
  const Queries found = queries_of(graph, head);
  if (found.boxes == nullptr || found.logits == nullptr || (found.masks != nullptr) != masks) return false;
  const std::int64_t queries = found.boxes->type.shape[1];
  if (queries > kMostQueries) return false;
  if (found.logits->type.shape[1] != queries || (masks && found.masks->type.shape[1] != queries)) return false;
  if (!set_class_count(head, found.logits->type.shape[2])) return false;
  if (head.classes == kCocoNumbers) remap_coco_categories(head, 0);
  head.outputs = {found.boxes->name, found.logits->name};
  if (masks) head.outputs.push_back(found.masks->name);
  return true;
}

bool fit_boxes(const Graph& graph, const Card& /*card*/, Head& head) { return fit_queries(graph, head, false); }
bool fit_masks(const Graph& graph, const Card& /*card*/, Head& head) { return fit_queries(graph, head, true); }

/// By its exporter's names; or by COCO's 91 categories if an optimiser replaced the names by numbers.
bool is_rfdetr(const Graph& graph, const Card& /*card*/, const Head& head) {
  if (!reads_all(graph, head) || graph.value(output_of(graph, head)).type.shape[1] > 1000) return false;
  const auto is_number = [](const std::string& name) {
    return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (head.outputs[0] == "dets" && head.outputs[1] == "labels") return true;
  return graph.value(output_of(graph, head, 1)).type.shape[2] == kCocoNumbers && is_number(head.outputs[0]) &&
         is_number(head.outputs[1]);
}

/// The anchors are the queries.
Attachment::Objects select(Attachment& to) {
  const Card& card = to.card;
  Node node{.domain = "saccade",
            .op = "SelectQueries",
            .inputs = {to.output(0), to.class_filter(), to.output(1), to.geometry}};
  to.set_candidate_attributes(node);
  node.attributes.set("stretch", std::int64_t{card.resize == ResizeMode::kStretch && !card.roi});
  node.attributes.set("width", std::int64_t{card.width});
  node.attributes.set("height", std::int64_t{card.height});
  node.attributes.set("max_det", std::int64_t{to.options.max_detections});
  const auto made =
      to.post.add(std::move(node), {"detections", "detections.count", "detections.queries", "detections.faults"});
  const Attachment::Objects objects{.detections = made[0], .count = made[1], .anchors = made[2]};
  to.add_detections(objects, made[3]);
  return objects;
}

void attach_boxes(Attachment& to) { select(to); }

void attach_masks(Attachment& to) {
  const Attachment::Objects objects = select(to);
  const ValueId grids = to.post.own("TakeObjects", {to.output(2), objects.anchors, objects.count});
  to.add_masks(MaskWithin::kImage, grids, objects);
}

}  // namespace

constexpr Decoder kRfdetr = {.name = "rfdetr",
                             .reads = "boxes and logits per query (RF-DETR)",
                             .shapes = "[1, Q, 4] and [1, Q, C], Q at most 2000",
                             .usual_pixels = stretched_imagenet_pixels,
                             .fit = fit_boxes,
                             .recognises = is_rfdetr,
                             .attach = attach_boxes,
                             .selects_itself = true,
                             .uses = {.multi_label = false}};
constexpr Decoder kRfdetrSeg = {.name = "rfdetr-seg",
                                .reads = "the same plus masks per query (RF-DETR-seg)",
                                .shapes = "[1, Q, 4], [1, Q, C] and [1, Q, h, w], Q at most 2000",
                                .task = Task::kSegment,
                                .usual_pixels = stretched_imagenet_pixels,
                                .fit = fit_masks,
                                .recognises = is_rfdetr,
                                .attach = attach_masks,
                                .selects_itself = true,
                                .uses = {.multi_label = false}};

}  // namespace saccade
