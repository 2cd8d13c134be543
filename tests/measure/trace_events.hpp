#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace saccade::test {

/// Checks TRACE against the Trace Event Format specification: required fields and their types per phase.
inline void expect_schema(const nlohmann::json& trace) {
  ASSERT_TRUE(trace.is_object());
  ASSERT_TRUE(trace.at("traceEvents").is_array());
  EXPECT_TRUE(trace.at("displayTimeUnit") == "ms" || trace.at("displayTimeUnit") == "ns");
  const std::set<std::string> metadata = {"process_name", "process_labels", "process_sort_index", "thread_name",
                                          "thread_sort_index"};
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    ASSERT_TRUE(event.at("name").is_string()) << event;
    ASSERT_TRUE(event.at("pid").is_number_integer()) << event;
    ASSERT_TRUE(event.at("tid").is_number_integer()) << event;
    const std::string phase = event.at("ph");
    if (phase == "M") {
      EXPECT_TRUE(metadata.contains(event.at("name"))) << event;
      EXPECT_TRUE(event.at("args").at("name").is_string()) << event;
      continue;
    }
    ASSERT_TRUE(event.at("ts").is_number()) << event;
    EXPECT_GE(event.at("ts"), 0) << event;
    EXPECT_TRUE(event.at("cat").is_string()) << event;
    EXPECT_TRUE(event.at("args").is_object()) << event;
    if (phase == "X") {
      ASSERT_TRUE(event.at("dur").is_number()) << event;
      EXPECT_GE(event.at("dur"), 0) << event;
    } else {
      ASSERT_TRUE(phase == "b" || phase == "e") << event;
      EXPECT_TRUE(event.at("id").is_string()) << event;
    }
  }
}

/// Checks that spans of a thread are nested or disjoint, and that frames contain stages and stages launches.
inline void expect_nesting(const nlohmann::json& trace) {
  struct Span {
    std::int64_t start;  // ns
    std::int64_t end;
    std::string category;
  };
  std::map<int, std::vector<Span>> threads;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const auto nanoseconds = [&](const char* key) { return std::llround(event.at(key).get<double>() * 1e3); };
    threads[event.at("tid")].push_back({nanoseconds("ts"), nanoseconds("ts") + nanoseconds("dur"), event.at("cat")});
  }
  const std::map<std::string, std::string> parents = {
      {"frame", ""}, {"capture", ""}, {"stage", "frame"}, {"launch", "stage"}};
  for (auto& [thread, spans] : threads) {
    // As viewers do: by start, the longer one first, in the file's order if they are equal.
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::vector<Span> open;
    for (const Span& span : spans) {
      // A span of length 0 may be at the end of its predecessor.
      while (!open.empty() && open.back().end <= span.start &&
             (open.back().end < span.end || open.back().category == span.category))
        open.pop_back();
      EXPECT_EQ(open.empty() ? "" : open.back().category, parents.at(span.category)) << "thread " << thread;
      EXPECT_TRUE(open.empty() || span.end <= open.back().end) << "thread " << thread;
      open.push_back(span);
    }
  }
}

/// The numbers of the frames that have a span, in the order of the file.
inline std::vector<std::pair<int, std::int64_t>> frames_of(const nlohmann::json& trace) {
  std::vector<std::pair<int, std::int64_t>> frames;
  for (const nlohmann::json& event : trace.at("traceEvents"))
    if (event.value("cat", "") == "frame")
      frames.emplace_back(event.at("args").at("stream"), event.at("args").at("frame"));
  return frames;
}

}  // namespace saccade::test
