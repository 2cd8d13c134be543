#include "op_case/network.hpp"

#include <random>

namespace saccade {

Graph with_images_channels_last(Graph graph) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!graph.is_input(id) && !graph.is_output(id) && graph.constant(id) == nullptr &&
        graph.value(id).type.shape.rank() >= 3)
      graph.value(id).layout = Layout::kChannelsLast;
  }
  return graph;
}

std::string launches(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps())
    if (step.launch) text += (text.empty() ? "" : " ") + plan.graph().node(step.node).op;
  return text;
}

Graph c2f(DType dtype, std::int64_t half) {
  Network n(dtype);
  const ValueId x = n.conv(n.input(8), 2 * half, 1);
  const ValueId lower = n.slice(x, 0, half);
  const ValueId upper = n.slice(x, half, 2 * half);
  const ValueId deeper = n.conv(n.conv(upper, half, 3), half, 3, 1, upper);
  return n.build({n.conv(n.concat({lower, upper, deeper}), 8, 1)});
}

Graph random_network(std::uint32_t seed, DType dtype) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  Network n(dtype, 3, 4, 1 + seed % 2);
  Values values{n.input(8), n.input(5)};
  const auto any = [&] { return values[below(values.size())]; };
  for (int i = 0; i < 9; ++i) {
    const ValueId x = any();
    const std::int64_t c = n.channels(x);
    switch (below(6)) {
      case 0: values.push_back(n.conv(x, 8, 1)); break;
      case 1: values.push_back(n.conv(x, c, 3, c)); break;
      case 2: values.push_back(n.max_pool(x)); break;
      case 3: values.push_back(c < 2 ? x : n.slice(x, 0, c / 2)); break;
      default: values.push_back(n.concat({x, any(), any()})); break;
    }
    if (n.channels(values.back()) > 40) values.pop_back();
  }
  return n.build({values.back(), values[values.size() - 2], any()});
}

}  // namespace saccade
