#include "validate/sensitive_products.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "measure/limits/work.hpp"
#include "measure/statistics/drift.hpp"
#include "media/synthetic.hpp"
#include "ops/core/traits.hpp"
#include "passes/core/match.hpp"
#include "passes/narrow_floats.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/model/half_range.hpp"
#include "pipeline/model/lowering.hpp"
#include "pipeline/model/model_impl.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostGroups = 16;
// Outputs that are not finite must not hide what the other groups cause.
constexpr double kMostDrift = 1e3;

struct Product {
  std::string name;
  double operations = 0;
  bool is_last = false;
};

/// The values of GRAPH that lead to a product of the model.
std::set<ValueId> leading_to_products(const Graph& graph) {
  std::set<ValueId> leading;
  std::vector<NodeId> order = graph.order();
  std::ranges::reverse(order);
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    const bool is_product = traits_of(node).is_float_product() && node.stage == Stage::kModel;
    if (is_product || std::ranges::any_of(node.outputs, [&](ValueId output) { return leading.contains(output); }))
      leading.insert(node.inputs.begin(), node.inputs.end());
  }
  leading.erase(ValueId::kNone);  // omitted inputs and outputs
  return leading;
}

/// The products of GRAPH, the input of narrow_floats, that allow_tf32 rounds.
std::vector<NodeId> rounded_products(const Graph& graph) {
  std::vector<NodeId> products;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (traits_of(node).is_float_product() && node.stage == Stage::kModel && is_float32(graph, output_of(node)))
      products.push_back(id);
  }
  return products;
}

/// The products of GRAPH, the input of compile(), that the precision of OPTIONS narrows but for those that read or
/// write OUT_OF_RANGE, in order.
std::vector<Product> narrowed_products(Graph graph, const ModelOptions& options, const ValueNames& out_of_range) {
  if (!lower_to_narrowing(graph, options)) return {};
  const Backend& backend = choose_backend(options);
  const MixedPrecision precision = pass_options(options, backend, {.values = out_of_range}).precision;
  const std::set<ValueId> leading = leading_to_products(graph);
  std::vector<Product> products;
  for (const NodeId id :
       precision.half ? products_to_narrow(graph, backend.target(), precision) : rounded_products(graph)) {
    const Node& node = graph.node(id);
    products.push_back({node.name, work_of(graph, node).operations, !leading.contains(output_of(node))});
  }
  return products;
}

std::vector<ProductGroup> grouped(std::span<const Product> products) {
  if (products.empty()) return {};
  double all = 0;
  std::vector<Product> last;
  std::vector<Product> others;
  for (const Product& each : products) {
    all += each.operations;
    (each.is_last ? last : others).push_back(each);
  }
  const auto add = [&](ProductGroup& group, const Product& product) {
    group.products.insert(product.name);
    if (all > 0) group.operations += product.operations / all;
  };
  const std::size_t groups = std::min(kMostGroups, others.size());
  std::vector<ProductGroup> result(groups + 1);
  result[0].is_last = true;
  for (const Product& each : last) add(result[0], each);
  for (std::size_t i = 0; i < others.size(); ++i) add(result[1 + i * groups / others.size()], others[i]);
  return result;
}

/// GRAPH with the model's float32 results as its outputs, without post-processing.
Graph without_postprocessing(Graph graph) {
  std::vector<ValueId> results;
  for (const NodeId id : graph.order())
    for (const ValueId output : graph.node(id).outputs) {
      if (graph.node(id).stage == Stage::kPost || output == ValueId::kNone || !is_float32(graph, output)) continue;
      const auto users = graph.users(output);
      const bool is_read =
          std::ranges::any_of(users, [&](NodeId user) { return graph.node(user).stage == Stage::kPost; });
      if (is_read || graph.is_output(output)) results.push_back(output);
    }
  graph.set_outputs(std::move(results));
  return graph;
}

/// The raw outputs of a model for each of FRAMES.
std::vector<std::vector<Tensor>> run(const Graph& graph, const ModelOptions& options, Fp32KeepList keep_fp32,
                                     std::span<const Frame> frames) {
  Execution execution(compile({.graph = graph, .options = options, .keep_fp32 = std::move(keep_fp32)}));
  std::vector<std::vector<Tensor>> outputs;
  for (const Frame& frame : frames) {
    *execution.frame() = frame.view;
    execution.run();
    outputs.push_back(read_data_outputs(execution));
  }
  return outputs;
}

double drift_of(std::span<const std::vector<Tensor>> outputs, std::span<const std::vector<Tensor>> reference) {
  double most = 0;
  for (std::size_t frame = 0; frame < outputs.size(); ++frame) {
    const auto& others = reference[(frame + 1) % reference.size()];
    for (std::size_t i = 0; i < outputs[frame].size(); ++i)
      most = std::max(most, drift(outputs[frame][i], reference[frame][i], others[i]));
  }
  return std::min(most, kMostDrift);
}

/// The first frames of two scenes.
std::vector<Frame> frames_of_scenes(FramePool& pool) {
  std::vector<Frame> frames;
  for (const char* scene : {"synthetic:?seed=1", "synthetic:?seed=2"})
    frames.push_back(read_scene(*open_synthetic(scene), pool));
  return frames;
}

/// VALUES, and the products of all groups but one.
Fp32KeepList all_but(ValueNames values, std::span<const ProductGroup> groups, const ProductGroup& narrowed) {
  Fp32KeepList list{.values = std::move(values)};
  for (const ProductGroup& each : groups)
    if (&each != &narrowed) list.add({.products = each.products});
  return list;
}

}  // namespace

std::vector<ProductGroup> find_sensitive_products(const std::string& path, ModelOptions options, Precision precision,
                                                  const std::function<void(double)>& progress) {
  const Model model = Model::load(path, options);
  options = model.options();
  const Graph graph = attach(impl_of(model).graph(), impl_of(model).card(), options.post).graph;
  FramePool pool(2);
  const std::vector<Frame> frames = frames_of_scenes(pool);
  const Graph raw = without_postprocessing(graph);
  options.precision = Precision::kFp32;
  const auto reference = run(raw, options, {}, frames);
  options.precision = precision;
  const ValueNames out_of_range = find_fp32_keep_list(graph, options);
  std::vector<ProductGroup> groups = grouped(narrowed_products(graph, options, out_of_range));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(groups.size()));
    groups[i].drift = drift_of(run(raw, options, all_but(out_of_range, groups, groups[i]), frames), reference);
  }
  return groups;
}

std::vector<NodeNames> steps_to_keep(std::vector<ProductGroup> groups) {
  const auto squares = [](const ProductGroup& group) { return group.drift * group.drift; };
  std::ranges::stable_sort(groups, std::greater(), [&](const ProductGroup& group) {
    return group.is_last ? std::numeric_limits<double>::infinity() : squares(group) / std::max(group.operations, 1e-9);
  });
  double left = 0;
  for (const ProductGroup& each : groups) left += each.is_last ? 0 : squares(each);
  const double all = left;
  std::vector<NodeNames> steps;
  NodeNames kept;
  std::size_t next = 0;
  const auto keep_next = [&] {
    const ProductGroup& group = groups[next++];
    kept.insert(group.products.begin(), group.products.end());
    if (!group.is_last) left -= squares(group);
  };
  // One group stays: without it nothing is narrowed.
  const auto has_more = [&] { return next + 1 < groups.size(); };
  for (const double share : {1.0, 0.5, 0.25, 0.125}) {
    const std::size_t before = kept.size();
    while (has_more() && (groups[next].is_last || left > share * share * all)) keep_next();
    if (kept.size() > before) steps.push_back(kept);
  }
  return steps;
}

}  // namespace saccade
