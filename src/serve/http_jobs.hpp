#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "base/http_module.hpp"
#include "serve/job.hpp"
#include "serve/memory_regions.hpp"
#include "serve/signature.hpp"
#include "serve/workers.hpp"

namespace saccade::serve {

/// A reply with BODY.
HttpReply json_reply(const nlohmann::json& body);

/// A reply with {"error": SENTENCE}.
HttpReply error_reply(int status, const std::string& sentence);

/// What a client may know of ERROR: what is wrong with the request, nothing about the machine.
HttpReply error_reply(const Error& error);

/// An inference on raw tensors by REQUEST. WORKERS, which write long responses, and REGIONS, in which tensors may be,
/// outlive it.
std::unique_ptr<Job> infer_job(std::shared_ptr<const Signature> model, HttpRequest request, HttpRespond respond,
                               Workers& workers, MemoryRegions& regions);

/// Whether it takes microseconds to prepare the inference by REQUEST: its JSON is short.
bool is_short(const HttpRequest& request);

/// A prediction for the image in REQUEST, of MOST_PIXELS at most. WORKERS, which draw, outlive it.
std::unique_ptr<Job> predict_job(HttpRequest request, HttpRespond respond, std::int64_t most_pixels, Workers& workers);

}  // namespace saccade::serve
