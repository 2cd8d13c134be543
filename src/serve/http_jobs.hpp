#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/http_module.hpp"
#include "serve/job.hpp"
#include "serve/memory_regions.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {

/// An inference on raw tensors by REQUEST. REGIONS, in which tensors may be, outlive it.
std::unique_ptr<Job> infer_job(std::shared_ptr<const Signature> model, HttpRequest request, HttpRespond respond,
                               MemoryRegions& regions);

/// Whether it takes microseconds to prepare the inference by REQUEST: its JSON is short.
bool is_short(const HttpRequest& request);

struct PredictOptions {
  std::int64_t most_pixels = 0;                           ///< of the image
  bool draw = false;                                      ///< the response is the image with the predictions
  std::optional<std::chrono::microseconds> timeout = {};  ///< for its turn; nullopt: none
  std::string problem = {};                               ///< why the request is not valid; empty: it is
};

/// By the query of REQUEST.
PredictOptions predict_options(const HttpRequest& request, std::int64_t most_pixels);

/// A prediction for the image in REQUEST. REGIONS, with whose inputs the image counts, outlive it.
std::unique_ptr<Job> predict_job(HttpRequest request, HttpRespond respond, const PredictOptions& options,
                                 MemoryRegions& regions);

}  // namespace saccade::serve
