#pragma once

#include "vision/attachment.hpp"

namespace saccade {

// Every family's decoders; table.cpp lists them in the order in which they are tried.
extern const Decoder kYolov8;
extern const Decoder kYolov8Seg;
extern const Decoder kYolov8Pose;
extern const Decoder kYolov8Obb;
extern const Decoder kYolov5;
extern const Decoder kYolox;
extern const Decoder kYoloEndToEnd;
extern const Decoder kDetrEndToEnd;
extern const Decoder kRfdetr;
extern const Decoder kRfdetrSeg;
extern const Decoder kClassify;
extern const Decoder kSemantic;
extern const Decoder kDepth;
extern const Decoder kUpscale;

/// Masks of the chosen objects from coefficients float32 [N, K] and prototypes float32 [1, K, h, w].
void give_prototype_masks(Attachment& to, const Attachment::Objects& objects, ValueId coefficients, ValueId prototypes);

}  // namespace saccade
