#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/report_text.hpp"
#include "passes/core/manager.hpp"
#include "runtime/plan.hpp"

namespace saccade::app {

/// Statistics of a model file, before any pass.
struct ModelFacts {
  std::map<std::string, std::int64_t> operators;  ///< number of nodes per operator
  std::int64_t parameters = 0;                    ///< elements of all floating-point and quantised constants
  std::size_t parameter_bytes = 0;
  std::int64_t macs = 0;  ///< multiply-accumulates of convolutions and GEMMs
  std::map<std::string, std::int64_t> macs_by_operator;
};
ModelFacts facts_of(const Graph& graph);

/// An operator with nodes that the device has no kernel for; reference kernels run them.
struct Fallback {
  std::string op;
  std::int64_t count = 0;
  std::string example;            ///< one of the nodes
  std::set<std::string> reasons;  ///< "TACTIC: rejection reason"; empty: the device has no kernel for the operator
};
/// By operator; empty for the reference device.
std::vector<Fallback> fallbacks_of(const Plan& plan);

/// Peak memory of live tensors between nodes, in bytes.
std::size_t peak_activation_bytes(const Plan& plan);

/// The complete report of `inspect`.
struct InspectReport {
  std::string file;
  Graph graph;  ///< as it was imported
  ModelFacts facts;
  std::string card;         ///< the recognised card as TOML
  std::string card_origin;  ///< or the reason why there is none
  std::vector<std::string> card_assumptions;
  Fp32KeepList keep_fp32;
  PassReport passes;
  std::shared_ptr<const Plan> plan;
  bool show_patches = false;
};

ReportText to_text(const InspectReport& report);
nlohmann::json to_json(const InspectReport& report);

}  // namespace saccade::app
