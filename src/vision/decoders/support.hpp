#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vision/attachment.hpp"
#include "vision/recognise.hpp"

// What decoders share.
namespace saccade {

/// At most so many classes, or cells: more is another kind of output.
inline constexpr std::int64_t kMostClasses = 100'000;

/// Outputs that a head may read, in the model's order: those that it names, else all.
std::vector<ValueId> readable_outputs(const Graph& graph, const Head& head);

/// Names in HEAD the first readable output whose shape FITS takes; FITS(shape, head) may set what the shape says.
/// False where there is none.
template <typename Fits>
bool fit_one(const Graph& graph, Head& head, const Fits& fits) {
  for (ValueId output : readable_outputs(graph, head)) {
    Head tried = head;
    if (!fits(graph.value(output).type.shape, tried)) continue;
    head = std::move(tried);
    head.outputs = {graph.value(output).name};
    return true;
  }
  return false;
}

/// The readable output [1, K, h, w] of a network of masks, K prototypes; null: there is none.
const Value* prototypes_of(const Graph& graph, const Head& head);

/// fit_one() for rows or columns with coefficients of masks, behind which the prototypes are named: FITS(shape, head,
/// K).
template <typename Fits>
bool fit_with_prototypes(const Graph& graph, Head& head, const Fits& fits) {
  const Value* prototypes = prototypes_of(graph, head);
  if (prototypes == nullptr) return false;
  const std::int64_t count = prototypes->type.shape[1];
  if (!fit_one(graph, head, [&](const Shape& shape, Head& to) { return fits(shape, to, count); })) return false;
  head.outputs.push_back(prototypes->name);
  return true;
}

ValueId output_of(const Graph& graph, const Head& head, std::size_t role = 0);

/// The scores and the boxes float32 [1, A, 4] of A rows that a head reads, in two outputs.
struct ScoresAndBoxes {
  const Value* scores = nullptr;  ///< [1, A, C]
  const Value* boxes = nullptr;   ///< [1, A, 4]; null: there is no such pair
};
/// The two that HEAD names, in that order; else those whose names hold SCORES and BOXES; else the only two that fit.
ScoresAndBoxes find_scores_and_boxes(const Graph& graph, const Head& head, std::string_view scores,
                                     std::string_view boxes);
/// The readable output of RANK (0: any) whose name holds WORD (where HEAD names outputs: the one at PLACE); null: none.
const Value* find_role(const Graph& graph, const Head& head, std::size_t place, std::string_view word, int rank = 0);

/// Whether the model's own operators made it probabilities.
bool ends_in(const Graph& graph, const std::string& output, std::string_view op);

/// CLASSES is what an output tells apart: true where HEAD, which may know it already, does not contradict.
bool settle_count(Head& head, std::int64_t classes);

/// The classes of an output that does not tell them: what HEAD knows already, else as many as its card maps, else as it
/// names, else USUAL. False where HEAD still knows none.
bool assume_classes(Head& head, std::int64_t usual);

/// Points an object, as Ultralytics' metadata says them; 0: it says none.
int metadata_keypoints(const Graph& graph);

/// Whether the model has no other outputs than those that HEAD reads.
bool reads_all(const Graph& graph, const Head& head);

/// COCO's categories by their own numbers, 1 to 90 with gaps, and a 0 before them.
constexpr int kCocoNumbers = 91;

/// Where a head's classes are the numbers of COCO's categories, FIRST of them the first one's: remaps them to the 80
/// that there are, unless HEAD has labels or a map of its own.
void remap_coco_categories(Head& head, int first);

/// Cells of all levels of the model's image.
std::int64_t cells(const Card& card, const std::vector<int>& strides);
/// The usual strides under which the image has ANCHORS cells; empty: none.
std::vector<int> strides_for(const Card& card, std::int64_t anchors);

/// [1, A, K] of all levels' outputs [1, a, K]: those of kind number KIND, where a head's outputs are the levels of one
/// kind, one a stride, after those of the other.
ValueId joined_levels(Attachment& to, std::size_t kind);

/// Operators that hand elements on as they are.
bool only_moves(const Node& node);
/// The operators that made a value's elements, behind whatever only moves them.
std::set<std::string> makers(const Graph& graph, ValueId value);
/// What the last Concat, behind whatever only moves elements, joins; empty where there is none.
std::vector<ValueId> parts(const Graph& graph, ValueId value);

inline bool is_list(const Shape& shape) { return shape.rank() == 3 && shape[0] == 1; }

// Pixels as families take them.
void ultralytics_pixels(Card& card);  ///< RGB / 255, letterbox centred in grey 114
void imagenet_pixels(Card& card);     ///< RGB, ImageNet's mean and deviation, resize and crop
void stretched_pixels(Card& card);    ///< RGB / 255, stretched
void stretched_imagenet_pixels(Card& card);

}  // namespace saccade
