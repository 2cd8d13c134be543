#include "passes/core/min_cut.hpp"

#include <algorithm>

namespace saccade {

int MinCut::add_vertex() {
  edges_of_.emplace_back();
  return static_cast<int>(edges_of_.size() - 1);
}

void MinCut::add_edge(int from, int to, std::int64_t cost) {
  if (from == to || cost == 0) return;
  edges_of_[static_cast<std::size_t>(from)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, cost});
  edges_of_[static_cast<std::size_t>(to)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

bool MinCut::find_levels() {
  level_.assign(edges_of_.size(), -1);
  level_[kSource] = 0;
  std::vector<int> queue{kSource};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    steps_left_ -= static_cast<std::int64_t>(edges_of_[static_cast<std::size_t>(queue[i])].size());
    for (int index : edges_of_[static_cast<std::size_t>(queue[i])]) {
      const Edge& edge = edges_[static_cast<std::size_t>(index)];
      int& level = level_[static_cast<std::size_t>(edge.to)];
      if (edge.left == 0 || level >= 0) continue;
      level = level_[static_cast<std::size_t>(queue[i])] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[kSink] >= 0;
}

std::int64_t MinCut::push(int vertex, std::int64_t limit) {
  // Iterative: paths are as long as the network is deep.
  std::vector<int> path;
  while (steps_left_ >= 0) {
    --steps_left_;
    if (vertex == kSink) {
      std::int64_t flow = limit;
      for (int index : path) flow = std::min(flow, edges_[static_cast<std::size_t>(index)].left);
      for (int index : path) {
        edges_[static_cast<std::size_t>(index)].left -= flow;
        edges_[static_cast<std::size_t>(index ^ 1)].left += flow;
      }
      return flow;
    }
    const auto& edges = edges_of_[static_cast<std::size_t>(vertex)];
    std::size_t& next = next_[static_cast<std::size_t>(vertex)];
    while (next < edges.size()) {
      const Edge& edge = edges_[static_cast<std::size_t>(edges[next])];
      if (edge.left > 0 && level_[static_cast<std::size_t>(edge.to)] == level_[static_cast<std::size_t>(vertex)] + 1)
        break;
      ++next;
    }
    if (next < edges.size()) {
      path.push_back(edges[next]);
      vertex = edges_[static_cast<std::size_t>(edges[next])].to;
    } else if (path.empty()) {
      return 0;
    } else {
      vertex = edges_[static_cast<std::size_t>(path.back() ^ 1)].to;
      path.pop_back();
      ++next_[static_cast<std::size_t>(vertex)];
    }
  }
  return 0;
}

std::vector<bool> MinCut::solve(std::int64_t max_steps) {
  steps_left_ = max_steps;
  std::vector<bool> with_source(edges_of_.size(), false);
  while (find_levels()) {
    next_.assign(edges_of_.size(), 0);
    while (push(kSource, kNever) != 0) {
    }
    if (steps_left_ >= 0) continue;
    with_source[kSource] = true;
    return with_source;
  }
  for (std::size_t i = 0; i < level_.size(); ++i) with_source[i] = level_[i] >= 0;
  return with_source;
}

}  // namespace saccade
