#pragma once

#include "vision/attachment.hpp"

namespace saccade {

// The decoders of all families; table.cpp lists them in the order in which they are tried.
extern const Decoder kYolov8;
extern const Decoder kYolov8Seg;
extern const Decoder kYolov8Pose;
extern const Decoder kYolov8Obb;
extern const Decoder kNanodet;
extern const Decoder kPicoDetHeads;
extern const Decoder kYolox;
extern const Decoder kYolov5;
extern const Decoder kYolov5Seg;
extern const Decoder kYolov7Pose;
extern const Decoder kRtDetrRows;
extern const Decoder kRtDetrEndToEnd;
extern const Decoder kYoloEndToEnd;
extern const Decoder kYoloEndToEndSeg;
extern const Decoder kYoloEndToEndPose;
extern const Decoder kYoloEndToEndObb;
extern const Decoder kYolov3;
extern const Decoder kYolov5Heads;
extern const Decoder kYoloFastest;
extern const Decoder kFastestDet;
extern const Decoder kKerasYolov3;
extern const Decoder kPpyoloe;
extern const Decoder kPicoDet;
extern const Decoder kDarknet;
extern const Decoder kYoloNas;
extern const Decoder kUltraFace;
extern const Decoder kSsd;
extern const Decoder kSsdPriors;
extern const Decoder kEfficientDet;
extern const Decoder kDetr;
extern const Decoder kRtDetr;
extern const Decoder kDeformableDetr;
extern const Decoder kRfdetr;
extern const Decoder kRfdetrSeg;
extern const Decoder kDetrEndToEnd;
extern const Decoder kTensorFlow;
extern const Decoder kSsdZoo;
extern const Decoder kTensorRt;
extern const Decoder kEfficientDetEndToEnd;
extern const Decoder kDetectionOutput;
extern const Decoder kYolov7EndToEnd;
extern const Decoder kYoloNasEndToEnd;
extern const Decoder kPpyoloeEndToEnd;
extern const Decoder kPicoDetEndToEnd;
extern const Decoder kTorchvision;
extern const Decoder kMaskRcnn;
extern const Decoder kScrfd;
extern const Decoder kYunet;
extern const Decoder kRetinaFace;
extern const Decoder kDb;
extern const Decoder kCtc;
extern const Decoder kOsTrack;
extern const Decoder kSemantic;
extern const Decoder kDepth;
extern const Decoder kUpscale;
extern const Decoder kEmbed;
extern const Decoder kClassify;

/// Masks of the selected objects from coefficients float32 [N, K] and prototypes float32 [1, K, h, w].
void add_prototype_masks(Attachment& to, const Attachment::Objects& objects, ValueId coefficients, ValueId prototypes);

}  // namespace saccade
