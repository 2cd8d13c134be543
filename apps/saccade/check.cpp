#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/report_text.hpp"
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

ReportText to_text(const std::vector<Tested>& all) {
  ReportText text;
  for (const Tested& test : all)
    if (test.outcome.verdict != TestVerdict::kPassed)
      text += report_text("{:<12}{}: {}\n", name_of(test.outcome.verdict), test.name, test.outcome.reason);
  const auto [passed, failed, unsupported] = count(all);
  text += report_text("{} tests: {} passed, {} failed, {} unsupported\n", all.size(), passed, failed, unsupported);
  return text;
}

int check(const CheckFlags& flags) {
  const std::vector<TestFolder> tests = find_test_folders(flags.folders);
  std::vector<Tested> all;
  StatusLine status;
  for (const TestFolder& test : tests) {
    const double share = static_cast<double>(all.size()) / static_cast<double>(tests.size());
    status.say("check", fmt::format("{}/{} {}", all.size() + 1, tests.size(), test.name), share);
    all.push_back({test.name, run_test_folder(test, flags.common.model)});
  }
  status.finish();
  print_result(
      flags.common.json, [&] { return to_json(all); }, [&] { return to_text(all); });
  return count(all)[static_cast<std::size_t>(TestVerdict::kFailed)] == 0 ? kOk : kVerdict;
}

}  // namespace

Action add_check(FlagBinder& binder) {
  const auto flags = std::make_shared<CheckFlags>();
  binder.bind("DIR", &flags->folders);
  flags->common.bind(binder);
  return {.run = [flags] { return check(*flags); }};
}

}  // namespace saccade::app
