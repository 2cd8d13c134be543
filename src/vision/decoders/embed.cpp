#include <algorithm>
#include <array>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// Embeddings: a vector per frame, as image towers (CLIP, DINO), re-identification (OSNet) and face recognition
// (ArcFace) give it. It is divided by its L2 norm, so that the dot product of two is their cosine similarity.
namespace saccade {
namespace {

constexpr float kLeastNorm = 1e-12F;  // of torch.nn.functional.normalize

bool fit(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_one(graph, head, [](const Shape& shape, Head& /*to*/) {
    const auto longer = [](std::int64_t dim) { return dim != 1; };
    return shape.rank() > 0 && std::ranges::count_if(shape, longer) == 1 && shape.elements() > 1 &&
           shape.elements() <= kMostClasses;
  });
}

/// The first producer of VALUE that does more than moving, bounding or broadcasting it; null: none.
const Node* source_of(const Graph& graph, ValueId value) {
  // operator list: what exporters put between a norm and the division.
  static const std::set<std::string, std::less<>> kBetween = {"Add", "Clip", "Expand", "Max"};
  const Node* node = graph.producer(value);
  while (node != nullptr && (only_moves(*node) || kBetween.contains(node->op))) node = graph.producer(node->inputs[0]);
  return node;
}

/// A vector that the model divides by its own norm.
bool is_normalized(const Graph& graph, ValueId output) {
  const Node* last = source_of(graph, output);
  if (last == nullptr) return false;
  if (last->is("LpNormalization")) return true;
  if (!last->is("Div")) return false;
  const Node* divisor = source_of(graph, last->inputs[1]);
  return divisor != nullptr && divisor->is("ReduceL2");
}

/// By its exporter's name, or by the norm. Other vectors look like the scores of classes.
bool is_embedding(const Graph& graph, const Card& /*card*/, const Head& head) {
  const std::string& name = head.outputs[0];
  for (const char* word : {"embed", "Embed", "pooler_output"})
    if (name.find(word) != std::string::npos) return true;
  return reads_all(graph, head) && is_normalized(graph, output_of(graph, head));
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  ValueId vector = to.output(0);
  vector = post.reshape(vector, {post.shape(vector).elements()});
  if (to.head.normalize) {
    const ValueId norm = post.op("ReduceL2", {vector}, {{"keepdims", std::int64_t{0}}});
    vector = post.op("Div", {vector, post.op("Max", {norm, post.number(kLeastNorm)})});
  }
  to.predictions.embedding = {.vector = to.outputs.add(vector)};
}

}  // namespace

constexpr Decoder kEmbed = {
    .name = "embed",
    .reads = "a vector per frame (CLIP, DINO, OSNet, ArcFace; `normalize`)",
    .shapes = "[1, D] or another shape with one dimension above 1",
    .task = Task::kEmbed,
    .usual_pixels = stretched_imagenet_pixels,
    .fit = fit,
    .recognises = is_embedding,
    .attach = attach,
    .uses = {.labels = false, .conf = false, .remap = false, .multi_label = false, .normalize = true}};

}  // namespace saccade
