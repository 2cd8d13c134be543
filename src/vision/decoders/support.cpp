#include "vision/decoders/support.hpp"

#include <algorithm>

namespace saccade {

std::vector<ValueId> readable_outputs(const Graph& graph, const Head& head) {
  if (head.outputs.empty()) return {graph.outputs().begin(), graph.outputs().end()};
  std::vector<ValueId> named;
  for (const std::string& name : head.outputs)
    for (ValueId output : graph.outputs())
      if (graph.value(output).name == name) named.push_back(output);
  return named;
}

ValueId output_of(const Graph& graph, const Head& head, std::size_t role) {
  return find_value(graph, graph.outputs(), head.outputs.at(role));
}

bool settle_count(Head& head, std::int64_t classes) {
  if (classes < 1 || classes > kMostClasses) return false;
  if (head.classes != 0) return head.classes == classes;
  head.classes = static_cast<int>(classes);
  return true;
}

bool reads_all(const Graph& graph, const Head& head) { return graph.answers().size() == head.outputs.size(); }

std::int64_t cells(const Card& card, const std::vector<int>& strides) {
  std::int64_t sum = 0;
  for (int stride : strides) sum += static_cast<std::int64_t>(card.width / stride) * (card.height / stride);
  return sum;
}

std::vector<int> strides_for(const Card& card, std::int64_t anchors) {
  for (const auto& strides : {std::vector{8, 16, 32}, {4, 8, 16, 32}, {8, 16, 32, 64}, {16, 32}, {32}})
    if (cells(card, strides) == anchors) return strides;
  return {};
}

bool only_moves(const Node& node) {
  static const std::set<std::string, std::less<>> kMoves = {
      "Transpose", "Reshape", "Concat", "Flatten", "Squeeze",        "Unsqueeze",
      "Identity",  "Slice",   "Split",  "Cast",    "QuantizeLinear", "DequantizeLinear"};
  return node.domain.empty() && kMoves.contains(node.op);
}

std::set<std::string> makers(const Graph& graph, ValueId value) {
  std::set<std::string> found;
  std::set<ValueId> seen;
  std::vector<ValueId> pending{value};
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    const Node* node = graph.producer(id);
    if (node == nullptr || !seen.insert(id).second) continue;
    if (!only_moves(*node)) {
      found.insert(node->op);
    } else if (node->op == "Concat") {
      pending.insert(pending.end(), node->inputs.begin(), node->inputs.end());
    } else {
      pending.push_back(node->inputs.at(0));
    }
  }
  return found;
}

std::vector<ValueId> parts(const Graph& graph, ValueId value) {
  const Node* node = graph.producer(value);
  while (node != nullptr && node->op != "Concat" && only_moves(*node)) node = graph.producer(node->inputs.at(0));
  return node == nullptr || node->op != "Concat" ? std::vector<ValueId>{} : node->inputs;
}

void ultralytics_pixels(Card& card) {
  card.resize = ResizeMode::kLetterbox;
  card.pad = {114, 114, 114};
  card.scale = 1.0F / 255;
}

void imagenet_pixels(Card& card) {
  card.resize = ResizeMode::kResizeCrop;
  card.scale = 1.0F / 255;
  card.mean = {0.485F, 0.456F, 0.406F};
  card.std = {0.229F, 0.224F, 0.225F};
}

void stretched_pixels(Card& card) {
  card.resize = ResizeMode::kStretch;
  card.scale = 1.0F / 255;
}

void stretched_imagenet_pixels(Card& card) {
  imagenet_pixels(card);
  card.resize = ResizeMode::kStretch;
}

}  // namespace saccade
