#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/report_text.hpp"
#include "measure/bench/bench.hpp"

namespace saccade {

/// A benchmark of one or more models, with its settings.
struct BenchReport {
  std::string device;     ///< "AMD EPYC (avx2, avx512, vnni)"
  int cores = 0;          ///< available to the process
  std::string libraries;  ///< "oneDNN 2.6.3"
  int runs = 0;           ///< requested per engine, at least
  double seconds = 0;
  int loads = 1;
  int batch = 1;
  int streams = 1;
  std::string frame;      ///< input of recognised models: "1280x720 i420"
  bool resident = false;  ///< tensors stayed on the device
  std::uint64_t seed = 0;
  std::vector<std::string> peers;
  std::vector<BenchedModel> models;
};

/// {"device", "cores", "versions", "settings", "models": [{"model", "precision", "latency_ms": {"p50", ...}, ...}]};
/// times in milliseconds.
nlohmann::ordered_json to_json(const BenchReport& report);
/// For people: a paragraph per model, then a table of ratios if there are peers.
ReportText to_text(const BenchReport& report);

}  // namespace saccade
