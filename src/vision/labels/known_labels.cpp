#include "vision/labels/known_labels.hpp"

#include <algorithm>

#include "vision/labels/labels.hpp"

namespace saccade {
namespace {

constexpr std::string_view kVocLabels =
    "aeroplane|bicycle|bird|boat|bottle|bus|car|cat|chair|cow|diningtable|dog|horse|motorbike|person|"
    "pottedplant|sheep|sofa|train|tvmonitor";

constexpr std::string_view kAdeLabels =
    "wall|building|sky|floor|tree|ceiling|road|bed|windowpane|grass|cabinet|sidewalk|person|earth|door|table|mountain|"
    "plant|curtain|chair|car|water|painting|sofa|shelf|house|sea|mirror|rug|field|armchair|seat|fence|desk|rock|"
    "wardrobe|lamp|bathtub|railing|cushion|base|box|column|signboard|chest of drawers|counter|sand|sink|skyscraper|"
    "fireplace|refrigerator|grandstand|path|stairs|runway|case|pool table|pillow|screen door|stairway|river|bridge|"
    "bookcase|blind|coffee table|toilet|flower|book|hill|bench|countertop|stove|palm|kitchen island|computer|"
    "swivel chair|boat|bar|arcade machine|hovel|bus|towel|light|truck|tower|chandelier|awning|streetlight|booth|"
    "television receiver|airplane|dirt track|apparel|pole|land|bannister|escalator|ottoman|bottle|buffet|poster|stage|"
    "van|ship|fountain|conveyer belt|canopy|washer|plaything|swimming pool|stool|barrel|basket|waterfall|tent|bag|"
    "minibike|cradle|oven|ball|food|step|tank|trade name|microwave|pot|animal|bicycle|lake|dishwasher|screen|blanket|"
    "sculpture|hood|sconce|vase|traffic light|tray|ashcan|fan|pier|crt screen|plate|monitor|bulletin board|shower|"
    "radiator|glass|clock|flag";

constexpr std::string_view kCityscapesLabels =
    "road|sidewalk|building|wall|fence|pole|traffic light|traffic sign|vegetation|terrain|sky|person|rider|car|truck|"
    "bus|train|motorcycle|bicycle";

// In Ultralytics' order; DOTA 1.0 lacks the last one.
constexpr std::string_view kDotaLabels =
    "plane|ship|storage tank|baseball diamond|tennis court|basketball court|ground track field|harbor|bridge|"
    "large vehicle|small vehicle|helicopter|roundabout|soccer ball field|swimming pool|container crane";

/// FIRST, if it is not empty, then the first COUNT of NAMES.
std::vector<std::string> split_labels(std::string_view names, std::size_t count, std::string_view first = {}) {
  std::vector<std::string> labels;
  if (!first.empty()) labels.emplace_back(first);
  while (labels.size() < count) {
    const std::size_t end = std::min(names.find('|'), names.size());
    labels.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return labels;
}

std::vector<std::string> coco_names() { return {coco_labels().begin(), coco_labels().end()}; }

/// Classes of whole images.
std::optional<KnownLabels> image_labels(int classes) {
  if (classes == 1000) return KnownLabels{"ImageNet-1k's 1000 classes", split_labels(kImageNetLabels, 1000)};
  if (classes == 1001)
    return KnownLabels{"ImageNet-1k's 1000 classes after a background class",
                       split_labels(kImageNetLabels, 1001, "background")};
  return std::nullopt;
}

/// Classes of pixels.
std::optional<KnownLabels> pixel_labels(int classes) {
  if (classes == 19) return KnownLabels{"Cityscapes' 19 classes", split_labels(kCityscapesLabels, 19)};
  if (classes == 21)
    return KnownLabels{"VOC's 20 classes after a background class", split_labels(kVocLabels, 21, "background")};
  if (classes == 80) return KnownLabels{"COCO's 80 classes", coco_names()};
  if (classes == 150) return KnownLabels{"ADE20K's 150 classes", split_labels(kAdeLabels, 150)};
  return std::nullopt;
}

/// Classes of oriented boxes. Only Ultralytics' decoders are known to use this order.
std::optional<KnownLabels> oriented_labels(int classes) {
  if (classes == 15) return KnownLabels{"DOTA 1.0's 15 classes", split_labels(kDotaLabels, 15)};
  if (classes == 16) return KnownLabels{"DOTA 1.5's 16 classes", split_labels(kDotaLabels, 16)};
  return std::nullopt;
}

std::optional<KnownLabels> object_labels(const Head& head) {
  if (head.classes == 80) return KnownLabels{"COCO's 80 classes", coco_names()};
  if (head.classes == 20) return KnownLabels{"VOC's 20 classes", split_labels(kVocLabels, 20)};
  // Other frameworks number Open Images' classes otherwise.
  const std::string_view decoder = head.decoder->name;
  if (head.classes == 601 && (decoder.starts_with("yolov8") || decoder.starts_with("yolo-e2e")))
    return KnownLabels{"Open Images' 601 classes in Ultralytics' order", split_labels(kOpenImagesLabels, 601)};
  return std::nullopt;
}

}  // namespace

std::optional<KnownLabels> known_labels(const Head& head) {
  switch (head.decoder->task) {
    case Task::kClassify: return image_labels(head.classes);
    case Task::kSemantic: return pixel_labels(head.classes);
    case Task::kOriented: return head.classes == 80 ? object_labels(head) : oriented_labels(head.classes);
    case Task::kDetect:
    case Task::kSegment:
    case Task::kPose: return object_labels(head);
    default: return std::nullopt;
  }
}

}  // namespace saccade
