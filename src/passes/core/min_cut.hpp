#pragma once

#include <cstdint>
#include <vector>

namespace saccade {

/// A minimum s-t cut of a directed graph (Dinic's algorithm: E. A. Dinic, 1970).
class MinCut {
 public:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  /// Larger than the sum of all edges of a graph.
  static constexpr std::int64_t kNever = std::int64_t{1} << 60;

  MinCut() : edges_of_(2) {}

  int add_vertex();
  /// COST counts if FROM is on the source's side and TO on the sink's.
  void add_edge(int from, int to, std::int64_t cost);
  /// For every vertex, whether it is on the source's side; of several minimum cuts the one with the fewest vertices
  /// there. Beyond MAX_STEPS the source is alone.
  std::vector<bool> solve(std::int64_t max_steps);

 private:
  struct Edge {
    int to;
    std::int64_t left;  ///< residual capacity; an edge and its reverse are adjacent
  };

  bool find_levels();
  std::int64_t push(int vertex, std::int64_t limit);

  std::vector<Edge> edges_;
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
  std::int64_t steps_left_ = 0;
};

}  // namespace saccade
