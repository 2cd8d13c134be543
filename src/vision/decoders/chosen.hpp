#pragma once

#include <string>

#include "vision/attachment.hpp"

// Detectors with built-in NMS and separate outputs for boxes, scores and classes.
namespace saccade {

/// The outputs, of N elements each, in any shape.
struct ChosenLists {
  ValueId boxes;  ///< [N, 4], corners in the model's pixels
  ValueId scores;
  ValueId classes;  ///< integers of any kind
};

/// The number of valid objects in an output; kNone: all.
ValueId count_of(const Graph& graph, const std::string& output);

/// The first COUNT objects (kNone: all) become predictions.
Attachment::Objects choose_lists(Attachment& to, const ChosenLists& lists, ValueId count);

}  // namespace saccade
