#pragma once

#include <string>

#include "vision/attachment.hpp"

// What detectors share that choose among their boxes themselves and give boxes, scores and classes in outputs of their
// own.
namespace saccade {

/// What stands in the outputs, N elements each, in any shape.
struct ChosenLists {
  ValueId boxes;  ///< [N, 4], corners in the model's pixels
  ValueId scores;
  ValueId classes;  ///< integers of any kind
};

/// How many objects of an output are there, int64 [1], along the axis that holds them; kNone: all.
ValueId count_of(const Graph& graph, const std::string& output);

/// The first COUNT objects (kNone: all) to answers; FIRST is the first class's number.
Attachment::Objects choose_lists(Attachment& to, const ChosenLists& lists, ValueId count, int first);

}  // namespace saccade
