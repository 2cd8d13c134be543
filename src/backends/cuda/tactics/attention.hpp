#pragma once

#include <memory>

#include "cuda/driver/device.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// saccade.StridedAttention of up to 256 channels (kernels/attention.cuh).
std::unique_ptr<Tactic> fused_attention(Device& device);
/// The same of up to 128 channels of halves and many keys, on Hopper (kernels/attention_warpgroup.cuh).
std::unique_ptr<Tactic> warpgroup_attention(Device& device);

/// The layout in which the channels of a StridedAttention's operands lie side by side, since these are read in vectors.
LayoutRule attention_layout_rule(const NodeContext& context);

}  // namespace saccade::cuda
