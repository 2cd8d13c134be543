#pragma once

#include <vector>

#include "base/http_module.hpp"
#include "serve/memory_regions.hpp"

namespace saccade::serve {

/// The routes by which clients register shared memory in REGIONS, which outlive them, and those of CUDA shared memory,
/// of which there is none.
std::vector<HttpRoute> memory_routes(MemoryRegions& regions);

}  // namespace saccade::serve
