#pragma once

#include <vector>

#include "base/http_module.hpp"
#include "serve/memory_regions.hpp"

namespace saccade::serve {

/// The routes by which clients register shared memory in REGIONS, which outlive them.
std::vector<HttpRoute> memory_routes(MemoryRegions& regions);

}  // namespace saccade::serve
