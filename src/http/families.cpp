#include "http/families.hpp"

#include <prometheus/text_serializer.h>

#include <limits>

#include "saccade/telemetry.hpp"
#include "saccade/version.hpp"

namespace saccade::http {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

}  // namespace

Family::Family(std::string name, std::string help, MetricType type)
    : family_{.name = std::move(name), .help = std::move(help), .type = type, .metric = {}} {}

Family& Family::add(Labels labels, double value) {
  ClientMetric& metric = with(std::move(labels));
  if (family_.type == MetricType::Counter) metric.counter.value = value;
  if (family_.type == MetricType::Gauge) metric.gauge.value = value;
  return *this;
}

Family& Family::add(Labels labels, const Distribution& time) {
  ClientMetric::Histogram& histogram = with(std::move(labels)).histogram;
  histogram.sample_count = static_cast<std::uint64_t>(time.count);
  histogram.sample_sum = seconds(time.sum);
  for (std::size_t i = 0; i < kLatencyBounds.size(); ++i)
    histogram.bucket.push_back({static_cast<std::uint64_t>(time.at_most[i]), seconds(kLatencyBounds[i])});
  histogram.bucket.push_back({histogram.sample_count, std::numeric_limits<double>::infinity()});
  return *this;
}

Family& Family::add(Labels labels, const DwellTimes& dwell) {
  ClientMetric::Histogram& histogram = with(std::move(labels)).histogram;
  histogram.sample_count = static_cast<std::uint64_t>(dwell.count);
  histogram.sample_sum = seconds(dwell.sum);
  for (std::size_t i = 0; i < kDwellBounds.size(); ++i)
    histogram.bucket.push_back({static_cast<std::uint64_t>(dwell.at_most[i]), seconds(kDwellBounds[i])});
  histogram.bucket.push_back({histogram.sample_count, std::numeric_limits<double>::infinity()});
  return *this;
}

Family& Family::add(Labels labels, const std::vector<std::uint64_t>& counts, double sum) {
  ClientMetric::Histogram& histogram = with(std::move(labels)).histogram;
  double bound = 1;
  for (const std::uint64_t count : counts) {
    histogram.sample_count += count;
    histogram.bucket.push_back({histogram.sample_count, bound});
    bound *= 2;
  }
  histogram.sample_sum = sum;
  histogram.bucket.push_back({histogram.sample_count, std::numeric_limits<double>::infinity()});
  return *this;
}

ClientMetric& Family::with(Labels labels) {
  family_.metric.emplace_back().label = std::move(labels);
  return family_.metric.back();
}

Families::Families() {
  gauge("saccade_build_info", "The version of Saccade; the value is 1.").add({{"version", std::string(version())}}, 1);
}

Family& Families::counter(std::string name, std::string help) {
  return families_.emplace_back(std::move(name), std::move(help), MetricType::Counter);
}

Family& Families::gauge(std::string name, std::string help) {
  return families_.emplace_back(std::move(name), std::move(help), MetricType::Gauge);
}

Family& Families::histogram(std::string name, std::string help) {
  return families_.emplace_back(std::move(name), std::move(help), MetricType::Histogram);
}

void Families::add_machine(const ProcessState& process, const std::vector<GpuUse>& gpus) {
  counter("process_cpu_seconds_total", "Processor time of the process, of all its threads.")
      .add({}, process.processor_time.count());
  gauge("process_resident_memory_bytes", "Resident memory of the process.")
      .add({}, static_cast<double>(process.resident_bytes));
  gauge("process_threads", "Threads of the process.").add({}, static_cast<double>(process.threads));
  if (gpus.empty()) return;
  Family& use =
      gauge("saccade_gpu_use_ratio", "Share of the last sample period of NVML in which a kernel ran on the GPU.");
  Family& memory = gauge("saccade_gpu_memory_bytes", "Memory of the GPU in use, of all processes.");
  Family& power = gauge("saccade_gpu_power_watts", "Power of the GPU's board.");
  for (const GpuUse& each : gpus) {
    const Labels gpu = {{"gpu", std::to_string(each.ordinal)}};
    use.add(gpu, each.state.use);
    memory.add(gpu, each.state.memory_bytes);
    power.add(gpu, each.state.watts);
  }
}

HttpReply Families::reply() {
  std::vector<prometheus::MetricFamily> taken;
  for (Family& family : families_)
    if (!family.is_empty()) taken.push_back(family.take());
  return {.status = 200,
          .type = "text/plain; version=0.0.4; charset=utf-8",
          .body = prometheus::TextSerializer().Serialize(taken)};
}

}  // namespace saccade::http
