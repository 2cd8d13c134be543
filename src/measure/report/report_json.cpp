#include "measure/report/report_json.hpp"

#include "base/clock.hpp"

namespace saccade {

nlohmann::ordered_json distribution_json(const Distribution& time) {
  return {{"count", time.count},
          {"min", to_milliseconds(time.min)},
          {"mean", to_milliseconds(time.mean)},
          {"std", to_milliseconds(time.deviation)},
          {"p50", to_milliseconds(time.p50)},
          {"p90", to_milliseconds(time.p90)},
          {"p95", to_milliseconds(time.p95)},
          {"p99", to_milliseconds(time.p99)},
          {"max", to_milliseconds(time.max)}};
}

}  // namespace saccade
