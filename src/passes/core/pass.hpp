#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "graph/patch.hpp"
#include "graph/target.hpp"
#include "ops/interpreter/infer.hpp"
#include "passes/core/mixed_precision.hpp"

namespace saccade {

/// The input of a pass.
struct PassContext {
  const Graph& graph;
  KnownValues& known;
  const Target& target;
  const MixedPrecision& precision;
};

/// Matches a pattern that starts at a node, and returns the patch that replaces it; nullopt if it does not match.
using LocalRewrite = std::optional<Patch> (*)(const PassContext&, NodeId);
/// Rewrites the whole graph.
using GraphRewrite = std::optional<Patch> (*)(const PassContext&);

/// A graph rewrite. It is stateless, correct in any subset and order of passes, and preserves the outputs up to
/// rounding in the types of the graph; one that WIDENS, in the types before it ran. It runs until it returns nullopt.
struct Pass {
  std::string_view name;
  std::string_view summary;
  std::variant<LocalRewrite, GraphRewrite> rewrite;
  bool widens = false;
};

/// The passes in order; a pass may occur more than once.
std::span<const Pass> pipeline();

}  // namespace saccade
