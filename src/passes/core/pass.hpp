#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "graph/layout_rule.hpp"
#include "graph/patch.hpp"
#include "ops/interpreter/infer.hpp"

namespace saccade {

/// What a backend wants of a node's tensors.
using LayoutRules = std::function<LayoutRule(const Graph&, const Node&)>;

/// Whether a backend can run a node as a part of a saccade.Fused.
using FusionRule = std::function<bool(const Graph&, const Node&)>;

/// Whether a backend has a kernel of its own for a node, whose operands are in the graph while the node need not be.
using KernelRule = std::function<bool(const Graph&, const Node&)>;

/// Values by their names.
using ValueNames = std::set<std::string, std::less<>>;

/// What a pass sees besides the node that it looks at.
struct PassContext {
  const Graph& graph;
  KnownValues& known;
  const LayoutRules& layout_rules;        ///< empty: no backend is chosen yet
  const FusionRule& fuses;                ///< empty: nothing is fused so
  const KernelRule& runs;                 ///< empty: as for a backend that has none
  bool widen_halves = false;              ///< the backend computes float16 and bfloat16 in float32
  bool allow_tf32 = false;                ///< float32 may be rounded to tf32 where it is multiplied
  bool fuses_attention = false;           ///< the backend runs saccade.StridedAttention as one kernel
  std::optional<DType> narrow_to;         ///< what float32 is computed in where that is asked for: float16 or bfloat16
  bool narrow_outputs = false;            ///< a graph output that is computed in it may be given so
  const ValueNames* stay_wide = nullptr;  ///< values that are not narrowed; null: none
};

/// Looks at one node and proposes a change that starts there, or nothing.
using LocalRewrite = std::optional<Patch> (*)(const PassContext&, NodeId);
/// Looks at the whole graph.
using GraphRewrite = std::optional<Patch> (*)(const PassContext&);

/// One rewrite of graphs. It keeps no state, is right whatever other passes did or did not do before, and keeps the
/// graph's outputs equal to rounding: that of the types that the graph computes in, or, of a pass that WIDENS, of the
/// types that it did. It is asked again until it proposes nothing.
struct Pass {
  std::string_view name;
  std::string_view summary;
  std::variant<LocalRewrite, GraphRewrite> rewrite;
  bool widens = false;
};

/// The passes in the order in which they run; one may stand there more than once.
std::span<const Pass> pipeline();

}  // namespace saccade
