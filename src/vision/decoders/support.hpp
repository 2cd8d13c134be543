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

ValueId output_of(const Graph& graph, const Head& head, std::size_t role = 0);

/// CLASSES is what an output tells apart: true where HEAD, which may know it already, does not contradict.
bool settle_count(Head& head, std::int64_t classes);

/// Whether the model has no other outputs than those that HEAD reads.
bool reads_all(const Graph& graph, const Head& head);

/// Cells of all levels of the model's picture.
std::int64_t cells(const Card& card, const std::vector<int>& strides);
/// The usual strides under which the picture has ANCHORS cells; empty: none.
std::vector<int> strides_for(const Card& card, std::int64_t anchors);

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
