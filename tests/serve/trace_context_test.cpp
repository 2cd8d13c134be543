#include "serve/trace_context.hpp"

#include <gtest/gtest.h>

namespace saccade::serve {
namespace {

constexpr std::string_view kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view kSpan = "00f067aa0ba902b7";
const std::string kValid = "00-" + std::string(kTrace) + "-" + std::string(kSpan) + "-01";

TEST(TraceContextTest, AValidHeaderHasATraceAndASpan) {
  const TraceContext context = parse_traceparent(kValid);
  EXPECT_EQ(context.trace_id, kTrace);
  EXPECT_EQ(context.span_id, kSpan);
}

TEST(TraceContextTest, LaterVersionsMayHaveMoreFields) {
  EXPECT_EQ(parse_traceparent("cc" + kValid.substr(2) + "-what-comes").trace_id, kTrace);
  EXPECT_EQ(parse_traceparent("cc" + kValid.substr(2)).span_id, kSpan);
  EXPECT_TRUE(parse_traceparent("cc" + kValid.substr(2) + "x").trace_id.empty());
  EXPECT_TRUE(parse_traceparent(kValid + "-what-comes").trace_id.empty());
}

TEST(TraceContextTest, WhatIsNotValidIsNone) {
  for (std::size_t length = 0; length < kValid.size(); ++length)
    EXPECT_TRUE(parse_traceparent(std::string_view(kValid).substr(0, length)).trace_id.empty()) << length;
  for (std::size_t at = 0; at < kValid.size(); ++at)
    for (const char wrong : {'A', 'g', ' ', '_', '\0', kValid[at] == '-' ? '0' : '-'}) {
      std::string changed = kValid;
      changed[at] = wrong;
      EXPECT_TRUE(parse_traceparent(changed).trace_id.empty()) << changed;
    }
  EXPECT_TRUE(parse_traceparent("ff" + kValid.substr(2)).trace_id.empty());
  EXPECT_TRUE(parse_traceparent("00-" + std::string(32, '0') + kValid.substr(35)).trace_id.empty());
  EXPECT_TRUE(parse_traceparent(kValid.substr(0, 36) + std::string(16, '0') + "-01").trace_id.empty());
}

}  // namespace
}  // namespace saccade::serve
