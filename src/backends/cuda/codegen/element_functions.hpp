#pragma once

#include <optional>
#include <string>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// Expression rule of an element-wise operator for the node's types; empty if there is none.
ElementRule find_element_rule(const NodeContext& context);

/// A unary post-op on X, a name or literal. Throws Error (kUnsupported) if there is none.
std::string unary_post_op(const PostOp& post, const std::string& x);
/// Whether a kernel can apply the node's post-ops in its epilogue.
Support supports_post_ops(const NodeContext& context);

}  // namespace saccade::cuda
