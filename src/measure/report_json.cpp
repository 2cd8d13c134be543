#include "measure/report_json.hpp"

namespace saccade {

nlohmann::ordered_json distribution_json(const Distribution& time) {
  return {{"count", time.count},
          {"min", milliseconds(time.min)},
          {"mean", milliseconds(time.mean)},
          {"std", milliseconds(time.deviation)},
          {"p50", milliseconds(time.p50)},
          {"p90", milliseconds(time.p90)},
          {"p95", milliseconds(time.p95)},
          {"p99", milliseconds(time.p99)},
          {"max", milliseconds(time.max)}};
}

}  // namespace saccade
