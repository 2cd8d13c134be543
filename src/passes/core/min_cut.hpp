#pragma once

#include <cstdint>
#include <vector>

namespace saccade {

/// A directed graph whose vertices are to be parted in two so that the edges from the source's part to the sink's cost
/// least (Dinic's algorithm: E. A. Dinic, 1970).
class MinCut {
 public:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  /// More than all edges of a graph may cost together.
  static constexpr std::int64_t kNever = std::int64_t{1} << 60;

  MinCut() : edges_of_(2) {}

  int add_vertex();
  /// COST is paid if FROM ends up with the source and TO with the sink.
  void add_edge(int from, int to, std::int64_t cost);
  /// For every vertex, whether it is with the source; of several best answers the one with the fewest there. Where that
  /// takes more than MAX_STEPS, the source is alone.
  std::vector<bool> solve(std::int64_t max_steps);

 private:
  struct Edge {
    int to;
    std::int64_t left;  ///< capacity that is still free; the edge's reverse is the next one, or the one before
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
