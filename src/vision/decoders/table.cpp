#include <algorithm>

#include "vision/decoders/families.hpp"

namespace saccade {
namespace {

constexpr const Decoder* kDecoders[] = {
    // Rows of one output, and prototypes.
    &kYolov8,
    &kYolov8Seg,
    &kYolov8Pose,
    &kYolov8Obb,
    &kNanodet,
    &kPicoDetHeads,
    &kYolox,
    &kYolov5,
    &kYolov5Seg,
    &kYolov7Pose,
    &kRtDetrRows,
    &kRtDetrEndToEnd,
    &kYoloEndToEnd,
    &kYoloEndToEndSeg,
    &kYoloEndToEndPose,
    &kYoloEndToEndObb,
    // Heads, level by level.
    &kYolov3,
    &kYolov5Heads,
    &kYoloFastest,
    &kFastestDet,
    // Boxes and scores apart.
    &kKerasYolov3,
    &kPpyoloe,
    &kPicoDet,
    &kDarknet,
    &kYoloNas,
    &kUltraFace,
    &kSsd,
    &kSsdPriors,
    &kEfficientDet,
    &kDetr,
    &kRtDetr,
    &kDeformableDetr,
    // Chosen by the model.
    &kRfdetr,
    &kRfdetrSeg,
    &kDetrEndToEnd,
    &kTensorFlow,
    &kSsdZoo,
    &kTensorRt,
    &kEfficientDetEndToEnd,
    &kDetectionOutput,
    &kYolov7EndToEnd,
    &kYoloNasEndToEnd,
    &kPpyoloeEndToEnd,
    &kPicoDetEndToEnd,
    &kTorchvision,
    &kMaskRcnn,
    // Faces with landmarks.
    &kScrfd,
    &kYunet,
    &kRetinaFace,
    // Text.
    &kDb,
    &kCtc,
    // Two images as inputs.
    &kOsTrack,
    // Images, vectors and classes.
    &kSemantic,
    &kDepth,
    &kUpscale,
    &kEmbed,
    &kClassify,
};

}  // namespace

std::span<const Decoder* const> decoders() { return kDecoders; }

const Decoder* find_decoder(std::string_view name) {
  const auto found = std::ranges::find(kDecoders, name, &Decoder::name);
  return found == std::end(kDecoders) ? nullptr : *found;
}

}  // namespace saccade
