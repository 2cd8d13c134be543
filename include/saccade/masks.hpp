#pragma once

#include <string>
#include <vector>

#include "saccade/contours.hpp"
#include "saccade/image.hpp"
#include "saccade/results.hpp"

namespace saccade {

/// MASK as a kGray8 image of WIDTH x HEIGHT pixels: 255 inside, 0 outside. What is beyond the image is ignored. Throws
/// Error (kInvalidArgument) for a size below 1. Any thread.
Image to_bitmap(const Mask& mask, int width, int height);

/// MASK, clipped to WIDTH x HEIGHT, as COCO's compressed run lengths: "counts" of a segmentation whose "size" is
/// [HEIGHT, WIDTH], as pycocotools encodes it. Throws Error (kInvalidArgument) for a size below 1. Any thread.
std::string to_coco_counts(const Mask& mask, int width, int height);

/// A closed line through corners of pixels, alternately horizontal and vertical. The last point joins the first one.
/// The pixel (x, y) has the corners (x, y) and (x + 1, y + 1).
using Ring = std::vector<ContourPoint>;

/// A connected part of a mask: the inside of `outline` without `holes`. Filling all rings by the even-odd rule gives
/// the pixels again; their area is that of the mask.
struct Polygon {
  Ring outline;             ///< clockwise on the screen
  std::vector<Ring> holes;  ///< counter-clockwise
};

/// The polygons of MASK, in row-major order of their first pixels. Pixels that share an edge or a corner are of one
/// polygon, as in ContourTracer. Pixels outside that share an edge are of one hole. A part inside of a hole is a
/// polygon of its own. Rings that touch at a corner do not cross. Memory is proportional to the mask's bounding box.
/// Any thread.
std::vector<Polygon> to_polygons(const Mask& mask);

}  // namespace saccade
