#include "inspect/inspect_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "measure/report/terminal_text.hpp"

namespace saccade::app {
namespace {

using Json = nlohmann::ordered_json;

// Of a card, with its indentation and "...": a thousand labels would hide the rest.
constexpr std::size_t kLongestLine = kTerminalWidth - 6;

std::string type_of(const Value& value) {
  return fmt::format("{} {}", to_string(value.type.dtype), value.type.shape.to_string());
}

std::string op_name(const Node& node) {
  std::string name = node.domain.empty() ? node.op : node.domain + "." + node.op;
  for (const PostOp& post : node.post_ops) name += "+" + post.op;
  return name;
}

/// Number of steps per tactic, without views.
std::map<std::string, std::int64_t> tactics_of(const Plan& plan) {
  std::map<std::string, std::int64_t> counts;
  for (const Step& step : plan.steps()) ++counts[step.tactic == nullptr ? "view" : std::string(step.tactic->name())];
  return counts;
}

ReportText values_text(const Graph& graph, std::string_view what, std::span<const ValueId> values) {
  ReportText text;
  for (ValueId id : values) text += report_text("{}  {}: {}\n", what, graph.value(id).name, type_of(graph.value(id)));
  return text;
}

ReportText facts_text(const ModelFacts& facts) {
  ReportText text = report_text("parameters  {:.3f} M, {:.2f} MB\n", static_cast<double>(facts.parameters) / 1e6,
                                static_cast<double>(facts.parameter_bytes) / 1e6);
  text += report_text("operations  {:.3f} G multiply-accumulates\n", static_cast<double>(facts.macs) / 1e9);
  for (const auto& [name, macs] : facts.macs_by_operator)
    text += report_text("  {:<28}{:>12.3f} G\n", name, static_cast<double>(macs) / 1e9);
  text += "operators\n";
  for (const auto& [name, count] : facts.operators) text += report_text("  {:<28}{:>6}\n", name, count);
  return text;
}

/// What --check found; a pass beyond its tolerance is an error instead.
ReportText pass_check_text(const PassCheck& check) {
  if (check.compared == 0) return report_text("check       no pass changed the graph: there is nothing to compare\n");
  if (check.largest == 0) return report_text("check       {} passes compared, all outputs are equal\n", check.compared);
  return wrap("check", fmt::format("{} passes compared, the largest difference is {:.2g} of the spread of output '{}', "
                                   "by {} (tolerance {:.2g})",
                                   check.compared, check.largest, check.output, check.pass, check.tolerance));
}

ReportText passes_text(const InspectReport& report) {
  ReportText text = report_text("passes\n  {:<28}{:>8}{:>8}{:>8}{:>10}\n", "", "patches", "before", "after", "ms");
  for (const PassRecord& pass : report.passes.passes)
    text += report_text("  {:<28}{:>8}{:>8}{:>8}{:>10.2f}\n", pass.name, pass.patches, pass.nodes_before,
                        pass.nodes_after, to_milliseconds(pass.time));
  if (report.passes.check) text += pass_check_text(*report.passes.check);
  return report.show_patches ? text + print_patches(report.passes) : text;
}

/// Operators without a kernel of the device, with the rejection reasons.
ReportText fallbacks_text(const Plan& plan) {
  const std::vector<Fallback> fallbacks = fallbacks_of(plan);
  if (fallbacks.empty()) return {};
  ReportText text =
      report_text("not supported by {} (run by reference kernels: slow, one thread)\n", plan.backend().name());
  for (const Fallback& fallback : fallbacks) {
    text += report_text("  {:<28}{:>6}  e.g. {}\n", fallback.op, fallback.count, fallback.example);
    if (fallback.reasons.empty()) text += "        no kernel for this operator\n";
    for (const std::string& reason : fallback.reasons) text += wrap("  rejected", reason);
  }
  return text;
}

/// PARTS beside each other; those beyond the terminal's width are on further lines.
ReportText step_line(std::initializer_list<std::string> parts) {
  constexpr std::size_t kIndent = 8;
  ReportText text;
  std::string line;
  for (const std::string& part : parts) {
    const std::size_t width = utf8_count(part.substr(0, part.find_last_not_of(' ') + 1));
    if (!line.empty() && utf8_count(line) + 1 + width > kTerminalWidth) {
      text.add("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
      line.assign(kIndent - 1, ' ');
    }
    line += (line.empty() ? "" : " ") + part;
  }
  return text.add("{}\n", line);
}

ReportText step_text(const Step& step, const Graph& graph) {
  const Node& node = graph.node(step.node);
  const std::string detail = step.launch ? step.launch->detail() : std::string();
  return step_line({fmt::format("  {:<6}{:<28}", to_string(step.stage), op_name(node)),
                    fmt::format("{:<24}", type_of(graph.value(node.outputs[0]))),
                    fmt::format("{}{}{}", step.tactic == nullptr ? "view" : step.tactic->name(),
                                detail.empty() ? "" : " ", detail)});
}

ReportText plan_text(const Plan& plan) {
  ReportText text = wrap("plan", fmt::format("{} steps on {} ({}), {} threads", plan.steps().size(),
                                             plan.backend().name(), plan.backend().device_name(), plan.threads()));
  const auto megabytes = [](std::size_t bytes) { return static_cast<double>(bytes) / 1e6; };
  text += wrap("memory",
               fmt::format("{:.2f} MB of activations at their peak, {:.2f} MB arena; all tensors together {:.2f} MB",
                           megabytes(peak_activation_bytes(plan)), megabytes(plan.arena_bytes()),
                           megabytes(plan.tensor_bytes())));
  for (const auto& [name, count] : tactics_of(plan)) text += report_text("  {:<28}{:>6}\n", name, count);
  text += fallbacks_text(plan) + "steps\n";
  for (const Step& step : plan.steps()) text += step_text(step, plan.graph());
  return text;
}

ReportText keep_list_text(const ValueNames& names) {
  ReportText text;
  if (!names.empty()) text = report_text("values and products kept in float32: {}\n", names.size());
  for (const std::string& name : names) text += report_text("  {}\n", name);
  return text;
}

Json values_json(const Graph& graph, std::span<const ValueId> values) {
  Json rows = Json::array();
  for (ValueId id : values) {
    const Value& value = graph.value(id);
    rows.push_back({{"name", value.name},
                    {"dtype", to_string(value.type.dtype)},
                    {"shape", std::vector<std::int64_t>(value.type.shape.begin(), value.type.shape.end())}});
  }
  return rows;
}

Json passes_json(const PassReport& report) {
  Json rows = Json::array();
  for (const PassRecord& pass : report.passes)
    rows.push_back({{"name", pass.name},
                    {"patches", pass.patches},
                    {"nodes_before", pass.nodes_before},
                    {"nodes_after", pass.nodes_after},
                    {"ms", to_milliseconds(pass.time)}});
  return rows;
}

Json pass_check_json(const std::optional<PassCheck>& check) {
  if (!check) return nullptr;
  return {{"compared", check->compared},
          {"largest_difference", check->largest},
          {"pass", check->pass},
          {"output", check->output},
          {"tolerance", check->tolerance}};
}

Json fallbacks_json(const Plan& plan) {
  Json rows = Json::array();
  for (const Fallback& fallback : fallbacks_of(plan))
    rows.push_back({{"operator", fallback.op},
                    {"count", fallback.count},
                    {"example", fallback.example},
                    {"reasons", fallback.reasons}});
  return rows;
}

Json plan_json(const Plan& plan) {
  Json steps = Json::array();
  for (const Step& step : plan.steps()) {
    const Node& node = plan.graph().node(step.node);
    steps.push_back({{"node", node.name},
                     {"operator", op_name(node)},
                     {"stage", to_string(step.stage)},
                     {"output", type_of(plan.graph().value(node.outputs[0]))},
                     {"tactic", step.tactic == nullptr ? "view" : step.tactic->name()},
                     {"detail", step.launch ? step.launch->detail() : ""},
                     {"refusals", step.refusals}});
  }
  return {{"backend", plan.backend().name()},
          {"device", plan.backend().device_name()},
          {"threads", plan.threads()},
          {"peak_activation_bytes", peak_activation_bytes(plan)},
          {"arena_bytes", plan.arena_bytes()},
          {"tensor_bytes", plan.tensor_bytes()},
          {"tactics", tactics_of(plan)},
          {"fallbacks", fallbacks_json(plan)},
          {"steps", steps}};
}

}  // namespace

ReportText to_text(const InspectReport& report) {
  ReportText text = report_text("model       {}\n", report.file);
  text += values_text(report.graph, "input     ", report.graph.inputs());
  text += values_text(report.graph, "output    ", report.graph.outputs());
  text += facts_text(report.facts);
  text += report_text("card        {}\n", report.card_origin);
  for (const std::string& assumption : report.card_assumptions) text += wrap("  assumed:", assumption);
  for (std::size_t at = 0; at < report.card.size();) {
    const std::size_t end = std::min(report.card.find('\n', at), report.card.size());
    const std::string line = report.card.substr(at, end - at);
    text += report_text("  {}\n", line.size() <= kLongestLine ? line : line.substr(0, kLongestLine) + " ...");
    at = end + 1;
  }
  return text + keep_list_text(report.keep_fp32.names()) + passes_text(report) + plan_text(*report.plan);
}

nlohmann::json to_json(const InspectReport& report) {
  return {{"model", report.file},
          {"inputs", values_json(report.graph, report.graph.inputs())},
          {"outputs", values_json(report.graph, report.graph.outputs())},
          {"metadata", report.graph.metadata},
          {"parameters", report.facts.parameters},
          {"parameter_bytes", report.facts.parameter_bytes},
          {"macs", report.facts.macs},
          {"macs_by_operator", report.facts.macs_by_operator},
          {"operators", report.facts.operators},
          {"card", {{"origin", report.card_origin}, {"assumptions", report.card_assumptions}, {"toml", report.card}}},
          {"stay_float32", report.keep_fp32.names()},
          {"passes", passes_json(report.passes)},
          {"check", pass_check_json(report.passes.check)},
          {"plan", plan_json(*report.plan)}};
}

}  // namespace saccade::app
