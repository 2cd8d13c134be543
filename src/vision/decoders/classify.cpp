#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// Classifiers: a vector of scores or logits, one per class.
namespace saccade {
namespace {

bool fit(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    const auto longer = [](std::int64_t dim) { return dim != 1; };
    if (shape.rank() < 1 || std::ranges::count_if(shape, longer) != 1 || !set_class_count(to, shape.elements()))
      return false;
    return shape.elements() > 1;
  });
}

/// Scores are logits unless the graph ends in Softmax or Sigmoid. The card overrides this.
bool fit_and_settle(const Graph& graph, const Card& card, Head& head) {
  if (!fit(graph, card, head)) return false;
  const std::set<std::string> by = makers(graph, output_of(graph, head));
  head.softmax = !head.sigmoid && by != std::set<std::string>{"Softmax"} && by != std::set<std::string>{"Sigmoid"};
  return true;
}

bool is_vector(const Graph& graph, const Card& /*card*/, const Head& head) { return reads_all(graph, head); }

void attach(Attachment& to) {
  ValueId scores = to.output(0);
  if (to.head.sigmoid) scores = to.post.op("Sigmoid", {scores});
  Node top{.domain = "saccade", .op = "TopClasses", .inputs = {scores}};
  top.attributes.set("k", std::int64_t{to.options.top_k});
  top.attributes.set("softmax", std::int64_t{to.head.softmax});
  // Classes that do not exclude each other are subject to the threshold.
  const bool several = to.head.sigmoid || to.head.multi_label;
  if (several) top.attributes.set("conf", to.conf());
  const auto made = to.post.add(std::move(top), {"classes", "classes.faults"});
  to.predictions.classes = {.rows = to.outputs.add(made[0]), .faults = to.outputs.add(made[1])};
}

}  // namespace

constexpr Decoder kClassify = {.name = "classify",
                               .reads = "one score or logit per class (`softmax`, `sigmoid`)",
                               .shapes = "[1, C] or another shape with one dimension above 1",
                               .task = Task::kClassify,
                               .usual_pixels = imagenet_pixels,
                               .fit = fit_and_settle,
                               .recognises = is_vector,
                               .attach = attach,
                               .uses = {.remap = false, .softmax = true, .sigmoid = true}};

}  // namespace saccade
