#pragma once

#include <prometheus/metric_family.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/http_module.hpp"
#include "measure/live/run_monitor.hpp"
#include "saccade/summary.hpp"

namespace saccade::http {

inline double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

using Labels = std::vector<prometheus::ClientMetric::Label>;

/// A metric family and its values.
class Family {
 public:
  Family(std::string name, std::string help, prometheus::MetricType type);

  /// Of a counter or gauge.
  Family& add(Labels labels, double value);
  /// Nothing without a VALUE.
  template <typename T>
  Family& add(Labels labels, const std::optional<T>& value) {
    return value ? add(std::move(labels), static_cast<double>(*value)) : *this;
  }
  /// Of a histogram, in seconds.
  Family& add(Labels labels, const Distribution& time);
  Family& add(Labels labels, const DwellTimes& dwell);
  /// Of a histogram: COUNTS of values by their upper bounds 1, 2, 4, 8 ..., not cumulated, and the SUM of the values.
  Family& add(Labels labels, const std::vector<std::uint64_t>& counts, double sum);

  prometheus::MetricFamily take() { return std::move(family_); }
  bool is_empty() const { return family_.metric.empty(); }

 private:
  prometheus::ClientMetric& with(Labels labels);

  prometheus::MetricFamily family_;
};

/// The families of a reply.
class Families {
 public:
  /// With the version.
  Families();

  Family& counter(std::string name, std::string help);
  Family& gauge(std::string name, std::string help);
  Family& histogram(std::string name, std::string help);
  void add_machine(const ProcessState& process, const std::vector<GpuUse>& gpus);

  /// Those with values, in Prometheus' text format 0.0.4.
  HttpReply reply();

 private:
  std::list<Family> families_;
};

}  // namespace saccade::http
