#include <algorithm>

#include "vision/decoders/families.hpp"

namespace saccade {
namespace {

constexpr const Decoder* kDecoders[] = {
    &kYolov8,       &kYolov8Seg, &kYolov8Pose, &kYolov8Obb, &kYolox, &kYolov5,  &kYoloEndToEnd,
    &kDetrEndToEnd, &kRfdetr,    &kRfdetrSeg,  &kSemantic,  &kDepth, &kUpscale, &kClassify,
};

}  // namespace

std::span<const Decoder* const> decoders() { return kDecoders; }

const Decoder* find_decoder(std::string_view name) {
  const auto found = std::ranges::find(kDecoders, name, &Decoder::name);
  return found == std::end(kDecoders) ? nullptr : *found;
}

}  // namespace saccade
