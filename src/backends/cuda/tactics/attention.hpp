#pragma once

#include <memory>

#include "cuda/driver/device.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// saccade.StridedAttention of up to 256 channels (kernels/attention.cuh).
std::unique_ptr<Tactic> fused_attention(Device& device);
/// StridedAttention of up to 128 channels in half precision with many keys, on Hopper
/// (kernels/attention_warpgroup.cuh).
std::unique_ptr<Tactic> warpgroup_attention(Device& device);

}  // namespace saccade::cuda
