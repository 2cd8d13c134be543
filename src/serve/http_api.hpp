#pragma once

#include <vector>

#include "base/http_module.hpp"
#include "serve/access_log.hpp"
#include "serve/memory_regions.hpp"
#include "serve/repository.hpp"
#include "serve/workers.hpp"

namespace saccade::serve {

struct ApiOptions {
  std::size_t most_bytes = 64 << 20;                        ///< of a request's body
  std::int64_t most_pixels = std::int64_t{64} * 1'000'000;  ///< of an image
  AccessLog* access_log = nullptr;                          ///< null: none
};

/// The routes of the Open Inference Protocol (KServe v2) and of POST /predict for MODELS, with tensors in REGIONS.
/// CONTROLS load and unload models. All outlive the routes, and so does the access log.
std::vector<HttpRoute> routes(Repository& models, Workers& controls, MemoryRegions& regions, const ApiOptions& options);

}  // namespace saccade::serve
