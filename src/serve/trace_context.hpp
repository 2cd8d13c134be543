#pragma once

#include <string>
#include <string_view>

#include "base/log.hpp"

namespace saccade::serve {

/// The span of a client that a request belongs to: https://www.w3.org/TR/trace-context/, as OpenTelemetry passes it on.
/// Both are empty if the client sent none.
struct TraceContext {
  std::string trace_id;  ///< 32 hexadecimal digits
  std::string span_id;   ///< 16

  LogTrace for_log() const { return {trace_id, span_id}; }
};

/// The header of HTTP, and the metadata of gRPC, with a TraceContext.
inline constexpr std::string_view kTraceHeader = "traceparent";

/// Reads the value of kTraceHeader. What is not valid is none, as that specification wants it.
TraceContext parse_traceparent(std::string_view value);

}  // namespace saccade::serve
