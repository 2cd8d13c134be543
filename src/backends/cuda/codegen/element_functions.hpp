#pragma once

#include <optional>
#include <string>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// The rule of an element-wise operator on the node's types; empty where there is none.
ElementRule find_element_rule(const NodeContext& context);

/// A unary post-op on X, a name or literal. Throws Error (kUnsupported) for what is none.
std::string unary_post_op(const PostOp& post, const std::string& x);
/// Why the node's post-ops can't follow a kernel's own arithmetic; nothing where they can.
Support supports_post_ops(const NodeContext& context);

}  // namespace saccade::cuda
