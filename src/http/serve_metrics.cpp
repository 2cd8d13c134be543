#include "http/serve_metrics.hpp"

#include "http/families.hpp"
#include "pipeline/stream/stage_times.hpp"
#include "serve/serve_state.hpp"

namespace saccade::http {

HttpReply serve_metrics(const serve::ServeState& state) {
  Families families;
  Family& requests = families.counter("saccade_requests_total", "Requests for a model, by what became of them.");
  Family& waiting = families.gauge("saccade_waiting_requests", "Requests that wait for their turn.");
  Family& latency =
      families.histogram("saccade_request_seconds", "Time from the arrival of a request that was run to its response.");
  Family& batch = families.histogram("saccade_batch_images", "Images that a model has run at once.");
  for (const auto& [name, use] : state.models) {
    const std::pair<const char*, std::uint64_t> outcomes[] = {{"run", use.run},
                                                              {"failed", use.failed},
                                                              {"refused", use.refused},
                                                              {"cancelled", use.cancelled},
                                                              {"invalid", use.invalid}};
    for (const auto& [outcome, count] : outcomes)
      requests.add({{"model", name}, {"outcome", outcome}}, static_cast<double>(count));
    waiting.add({{"model", name}}, static_cast<double>(use.waiting));
    latency.add({{"model", name}}, distribution_of(use.latency));
    batch.add({{"model", name}}, use.batches, static_cast<double>(use.images));
  }
  families.add_machine(state.process, state.gpus);
  return families.reply();
}

}  // namespace saccade::http
