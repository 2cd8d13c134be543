#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "common.hpp"
#include "measure/bench/test_folder.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

struct CheckFlags {
  CommonFlags common;
  std::vector<std::string> folders;
};

constexpr std::array kVerdicts = {"passed", "failed", "unsupported"};

const char* name_of(TestVerdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

struct Tested {
  std::string name;
  TestOutcome outcome;
};

std::array<std::size_t, kVerdicts.size()> count(const std::vector<Tested>& all) {
  std::array<std::size_t, kVerdicts.size()> counts{};
  for (const Tested& test : all) ++counts[static_cast<std::size_t>(test.outcome.verdict)];
  return counts;
}

nlohmann::json to_json(const std::vector<Tested>& all) {
  nlohmann::json report = {{"reasons", nlohmann::json::object()}};
  for (const char* verdict : kVerdicts) report[verdict] = nlohmann::json::array();
  for (const Tested& test : all) {
    report[name_of(test.outcome.verdict)].push_back(test.name);
    if (test.outcome.verdict != TestVerdict::kPassed) report["reasons"][test.name] = test.outcome.reason;
  }
  return report;
}

void print_text(const std::vector<Tested>& all) {
  for (const Tested& test : all)
    if (test.outcome.verdict != TestVerdict::kPassed)
      print_report("{:<12}{}: {}\n", name_of(test.outcome.verdict), test.name, test.outcome.reason);
  const auto [passed, failed, unsupported] = count(all);
  print_report("{} tests: {} passed, {} failed, {} unsupported\n", all.size(), passed, failed, unsupported);
}

int check(const CheckFlags& flags) {
  const std::vector<TestFolder> tests = find_test_folders(flags.folders);
  std::vector<Tested> all;
  StatusLine status;
  for (const TestFolder& test : tests) {
    status.say(fmt::format("{}/{} {}", all.size() + 1, tests.size(), test.name));
    all.push_back({test.name, run_test_folder(test, flags.common.model)});
  }
  status.finish();
  if (flags.common.json)
    print_json(to_json(all));
  else
    print_text(all);
  return count(all)[static_cast<std::size_t>(TestVerdict::kFailed)] == 0 ? kOk : kVerdict;
}

}  // namespace

std::function<int()> add_check(CLI::App& app) {
  const auto flags = std::make_shared<CheckFlags>();
  app.add_option("DIR", flags->folders, "Folders of ONNX tests: model.onnx and test_data_set_*/, at any depth")
      ->required();
  flags->common.add_to(app, false);
  return [flags] { return check(*flags); };
}

}  // namespace saccade::app
