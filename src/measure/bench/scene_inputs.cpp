#include "measure/bench/scene_inputs.hpp"

#include <cstring>
#include <map>

#include "base/error.hpp"
#include "media/synthetic.hpp"
#include "ops/interpreter/interpret.hpp"
#include "passes/core/manager.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/model/model_impl.hpp"
#include "vision/attach.hpp"

namespace saccade {
namespace {

/// The value of TYPE that preprocessing hands to the model; kNone if a fused or converted one replaces it.
ValueId pixels_of(const Graph& graph, const TensorType& type) {
  ValueId found = ValueId::kNone;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.stage != Stage::kPre) continue;
    for (const ValueId output : node.outputs)
      if (output != ValueId::kNone && graph.value(output).type == type) found = output;
  }
  return found;
}

/// PIXELS of GRAPH, whose input is FRAME. The reference kernels run the preprocessing alone.
Tensor preprocessed(Graph graph, ValueId pixels, const FrameView& frame) {
  graph.set_outputs({pixels});
  run_passes(graph, {.disabled = passes_except({"eliminate_dead_code"})});
  Tensor given(DType::kFrame, {});
  std::memcpy(given.raw(), &frame, sizeof frame);
  return interpret(graph, {{graph.value(graph.inputs()[0]).name, given}}).front();
}

}  // namespace

void draw_scene(const Model& model, std::uint64_t seed, std::vector<Tensor>& inputs) {
  if (!impl_of(model).is_recognised()) return;
  const Card& card = impl_of(model).card();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (model.inputs()[i].name != card.input) continue;
    if (inputs[i].shape().rank() == 4 && inputs[i].shape()[0] != 1) return;
    Graph graph = attach(impl_of(model).graph(), card, model.options().post).graph;
    const ValueId pixels = pixels_of(graph, {inputs[i].dtype(), inputs[i].shape()});
    if (pixels == ValueId::kNone) return;
    FramePool pool(1, plain_frame_memory());
    const Frame frame = read_scene(*open_synthetic(fmt::format("synthetic:?seed={}", seed)), pool);
    inputs[i] = preprocessed(std::move(graph), pixels, frame.view);
  }
}

}  // namespace saccade
