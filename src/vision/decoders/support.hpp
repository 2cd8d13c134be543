#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vision/attachment.hpp"
#include "vision/cards/recognise.hpp"

// Common to decoders.
namespace saccade {

/// Maximum number of classes, or cells, of an output that a decoder reads.
inline constexpr std::int64_t kMostClasses = 100'000;

/// Outputs that a head may read, in the model's order: those that it names; all if it names none.
std::vector<ValueId> readable_outputs(const Graph& graph, const Head& head);

/// Sets HEAD's output to the first readable one whose shape FITS accepts. FITS(shape, head) may complete the head.
/// False if there is none.
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

/// The readable output [1, K, h, w] of K mask prototypes; null: none.
const Value* prototypes_of(const Graph& graph, const Head& head);

/// fit_one() for rows or columns with mask coefficients, and a second output for the prototypes: FITS(shape, head, K).
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
  const Value* boxes = nullptr;   ///< [1, A, 4]; null: no such pair
};
/// The two that HEAD names, in that order; else those whose names hold SCORES and BOXES; else the only two that fit.
ScoresAndBoxes find_scores_and_boxes(const Graph& graph, const Head& head, std::string_view scores,
                                     std::string_view boxes);
/// The readable output of RANK (0: any) whose name contains WORD, or the one at PLACE if HEAD names outputs; null:
/// none.
const Value* find_role(const Graph& graph, const Head& head, std::size_t place, std::string_view word, int rank = 0);

/// Whether OP of the model produces the output.
bool ends_in(const Graph& graph, const std::string& output, std::string_view op);

/// Sets the number of classes to that of an output; false if HEAD contradicts.
bool set_class_count(Head& head, std::int64_t classes);

/// The number of classes, if no output has it: HEAD's; else the size of its map; else the number of its labels; else
/// USUAL. False if it remains unknown.
bool assume_classes(Head& head, std::int64_t usual);

/// Keypoints per object from Ultralytics' metadata; 0: none.
int metadata_keypoints(const Graph& graph);

/// Whether HEAD reads all outputs of the model.
bool reads_all(const Graph& graph, const Head& head);

/// COCO's category IDs: 1 to 90 with gaps, and 0.
constexpr int kCocoNumbers = 91;

/// Remaps COCO's category IDs, with FIRST as the ID of the first class, to the 80 classes, unless HEAD has labels or a
/// map.
void remap_coco_categories(Head& head, int first);

/// Cells of all levels of the model's image.
std::int64_t cells(const Card& card, const std::vector<int>& strides);
/// The usual strides under which the image has ANCHORS cells; empty: none.
std::vector<int> strides_for(const Card& card, std::int64_t anchors);
/// Whether ROWS are the cells of consecutive strides from 4, 8, 16 or 32 on, one row per cell.
bool are_cells(const Card& card, std::int64_t rows);
/// Whether ROWS are one per cell, or 2 to 6 per cell of at least two levels, as anchor-based heads have them.
bool are_anchors(const Card& card, std::int64_t rows);

/// Maximum number of queries of a DETR.
inline constexpr std::int64_t kMostQueries = 2000;

/// [1, A, K] of all levels' outputs [1, a, K] of number KIND: a head's outputs are ordered by kind, then by stride.
ValueId joined_levels(Attachment& to, std::size_t kind);

/// Operators that only move elements.
bool only_moves(const Node& node);
/// The operators that produce a value's elements, ignoring those that only move them.
std::set<std::string> makers(const Graph& graph, ValueId value);
/// The inputs of the last Concat, ignoring operators that only move elements; empty if there is none.
std::vector<ValueId> parts(const Graph& graph, ValueId value);

inline bool is_list(const Shape& shape) { return shape.rank() == 3 && shape[0] == 1; }

// Default preprocessing of families.
void ultralytics_pixels(Card& card);  ///< RGB / 255, letterbox centred in grey 114
/// RGB, ImageNet's mean and deviation, resize and crop; antialiased, as torchvision's and timm's transforms are.
void imagenet_pixels(Card& card);
void stretched_pixels(Card& card);           ///< RGB / 255, stretched
void stretched_imagenet_pixels(Card& card);  ///< RGB, ImageNet's mean and deviation, stretched
// The same, antialiased: trained on images that Pillow resized.
void pillow_pixels(Card& card);
void pillow_imagenet_pixels(Card& card);
// The same, bicubic: PaddleDetection's transforms have interp = 2 (OpenCV's INTER_CUBIC).
void paddle_pixels(Card& card);
void paddle_imagenet_pixels(Card& card);

}  // namespace saccade
