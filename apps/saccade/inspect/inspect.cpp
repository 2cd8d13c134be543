#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/output_file.hpp"
#include "command.hpp"
#include "common.hpp"
#include "graph/dot.hpp"
#include "graph/print.hpp"
#include "inspect/inspect_report.hpp"
#include "inspect/write_card.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/lowering.hpp"
#include "pipeline/model/model_impl.hpp"
#include "pipeline/model/open_model.hpp"
#include "report.hpp"
#include "saccade/unrecognised_model.hpp"
#include "vision/attach.hpp"

namespace saccade::app {
namespace {

struct InspectFlags {
  CommonFlags common;
  std::string model;
  std::string graphviz_dir;
  std::string card_to_write;
  std::vector<std::string> dump_passes;
  bool dump = false;
  bool patches = false;
  bool check = false;
  bool pipeline = false;
  bool list_passes = false;
};

/// Prints the graph before the passes and after each requested one that changed it.
class Dumper {
 public:
  explicit Dumper(const InspectFlags& flags) : flags_(flags) {}

  void operator()(std::string_view pass, const Graph& graph) {
    const bool first = pass.empty();
    const ReportText text = print(graph);
    const bool wanted = flags_.dump || std::ranges::find(flags_.dump_passes, pass) != flags_.dump_passes.end();
    if (wanted && text != last_)
      print_report(report_text("==== {}\n{}\n", first ? "as imported" : fmt::format("after {}", pass), text));
    if (wanted && text == last_) print_report("==== after {}: no change\n", pass);
    last_ = text;
  }

 private:
  const InspectFlags& flags_;
  ReportText last_;
};

/// The two files of --graphviz. Both are opened before one is written.
class DotFiles {
 public:
  /// Throws Error (kIo, kConflict).
  explicit DotFiles(const std::string& folder) {
    if (folder.empty()) return;
    make_folder(folder);
    before_.emplace((std::filesystem::path(folder) / "before.dot").string());
    after_.emplace((std::filesystem::path(folder) / "after.dot").string());
  }
  void write_before(const Graph& graph) { write(before_, graph); }
  void write_after(const Graph& graph) { write(after_, graph); }

 private:
  static void write(std::optional<OutputFile>& file, const Graph& graph) {
    if (!file) return;
    file->write(to_dot(graph));
    file->close();
  }

  std::optional<OutputFile> before_;
  std::optional<OutputFile> after_;
};

/// The model's completed card; nullopt if there is none and none was requested.
std::optional<Card> find_card(InspectReport& report, const InspectFlags& flags, const std::optional<PlanFacts>& plan) {
  const ModelOptions& options = flags.common.model;
  try {
    Card card = card_of(report.graph, plan, flags.model, options.card);
    if (options.roi) card.roi = options.roi;
    report.card = to_toml(card);
    report.card_origin = card.origin;
    report.card_assumptions = card.assumptions;
    if (!flags.card_to_write.empty()) write_card(flags.card_to_write, commented_card(card));
    return card;
  } catch (const UnrecognisedModel& error) {
    if (flags.pipeline || !options.card.empty()) throw;
    report.card_origin = fmt::format("none: {}", error.what());
    if (flags.card_to_write.empty()) return {};
    write_card(flags.card_to_write, error.card());
    report.card_origin =
        fmt::format("none: the model is not recognised; {} is a template to complete", flags.card_to_write);
    return {};
  } catch (const Error& error) {
    const bool is_needed = flags.pipeline || !options.card.empty() || !flags.card_to_write.empty();
    if (is_needed || error.code() == ErrorCode::kConflict) throw;
    report.card_origin = fmt::format("none: {}", error.what());
    return {};
  }
}

int inspect(const InspectFlags& flags) {
  if (flags.list_passes) {
    for (const std::string_view name : pass_names()) print_report("{}\n", name);
    return kOk;
  }
  check_device_of(flags.model, flags.common.model);  // fails before a large file is read
  OpenedModel opened = open_model(flags.model, flags.common.model);
  const ModelOptions& options = opened.options;
  const Backend& backend = choose_backend(options);
  InspectReport report;
  report.file = flags.model;
  report.show_patches = flags.patches;
  report.graph = std::move(opened.graph);
  report.facts = facts_of(report.graph);
  const std::optional<Card> card = find_card(report, flags, opened.plan);
  Graph graph = flags.pipeline ? attach(report.graph, *card, options.post).graph : report.graph;
  DotFiles dots(flags.graphviz_dir);
  dots.write_before(graph);

  PassOptions passes = pass_options(options, backend);
  passes.check = flags.check;
  if (flags.dump || !flags.dump_passes.empty()) passes.on_graph = Dumper(flags);
  try {
    report.keep_fp32 = resolve_fp32_keep_list(graph, flags.pipeline ? &*card : nullptr, options, opened.plan);
    passes.precision.keep_fp32 = report.keep_fp32;
    report.passes = run_passes(graph, passes);
    dots.write_after(graph);
    const TacticChoices choices =
        choices_for(backend, options.threads, opened.plan ? opened.plan->choices : TacticChoices{});
    report.plan = Plan::compile(std::move(graph), backend,
                                {.threads = options.threads, .max_memory = options.max_memory, .choices = &choices});
  } catch (const Error& error) {
    throw error.in(flags.model);
  }
  print_result(
      flags.common.json, [&] { return to_json(report); }, [&] { return to_text(report); });
  return kOk;
}

}  // namespace

Action add_inspect(FlagBinder& binder) {
  const auto flags = std::make_shared<InspectFlags>();
  binder.bind("MODEL", &flags->model);
  binder.bind("--list-passes", &flags->list_passes);
  binder.bind("--dump", &flags->dump);
  binder.bind("--dump-pass", &flags->dump_passes);
  binder.bind("--graphviz", &flags->graphviz_dir);
  binder.bind("--write-card", &flags->card_to_write);
  binder.bind("--patches", &flags->patches);
  binder.bind("--check", &flags->check);
  binder.bind("--pipeline", &flags->pipeline);
  flags->common.bind(binder);
  flags->common.bind_predictions(binder);
  return {.run = [flags] { return inspect(*flags); },
          .check =
              [flags] {
                if (flags->model.empty() && !flags->list_passes) throw UsageError("MODEL is required");
              }};
}

}  // namespace saccade::app
