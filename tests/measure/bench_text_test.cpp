#include <gtest/gtest.h>

#include <sstream>

#include "measure/bench/bench_report.hpp"

namespace saccade {
namespace {

using std::chrono::microseconds;

BenchReport slow_report() {
  const Distribution time{.count = 30,
                          .min = microseconds(1101047),
                          .mean = microseconds(1121125),
                          .deviation = microseconds(120918),
                          .p50 = microseconds(1110626),
                          .p90 = microseconds(1151864),
                          .p95 = microseconds(1156381),
                          .p99 = microseconds(1159288),
                          .max = microseconds(1159288)};
  BenchedModel model{.file = "m.onnx", .name = "m", .precision = "fp32", .covers = "inference", .stages = {}};
  model.own.latency = time;
  model.own.slow.count = 12;
  for (int i = 0; i < 10; ++i) model.own.slow.slowest.push_back({.number = 20 + i, .time = time.max});
  model.stages.push_back({.name = "model", .time = time});
  BenchReport report;
  report.models.push_back(std::move(model));
  return report;
}

TEST(BenchText, FitsAnEightyColumnTerminal) {
  const std::string text = to_text(slow_report()).str();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_NE(text.find("12 runs took more than 1.1 medians; the slowest, ms:\n    1159.288 (run 20)  1159.288 (run 21)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("(run 29)\n"), std::string::npos) << text;
}

TEST(BenchText, NamesTheLibrariesIfThereAreAny) {
  BenchReport report = slow_report();
  report.device = "GPU";
  report.cores = 4;
  EXPECT_NE(to_text(report).str().find(" on GPU, 4 cores\n"), std::string::npos);
  EXPECT_EQ(to_text(report).str().find(" with "), std::string::npos);
  report.libraries = "oneDNN 2.6.3";
  EXPECT_NE(to_text(report).str().find(" with oneDNN 2.6.3 on GPU, 4 cores\n"), std::string::npos);
}

}  // namespace
}  // namespace saccade
