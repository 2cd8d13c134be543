#pragma once

#include <memory>
#include <span>

#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

class Device;

/// Memory on the device that nothing writes to. Plans of one model for several batch sizes share it.
using Weights = std::shared_ptr<const DeviceMemory>;

/// A copy of BYTES on DEVICE, whose context is current: one that exists already, if it has the same bytes. Complete on
/// return. The last owner releases it with the context current. Any thread. Throws Error (kDevice).
Weights upload_weights(Device& device, std::span<const std::byte> bytes);

}  // namespace saccade::cuda
