#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/sinks/preview_stream.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// The page that shows the streams of NAMES.
std::string preview_page(std::span<const std::string> names);

/// A list of {"stream":0,"name":...,"frames":...,"frame_rate":...,"objects":...,"latency_ms":{"p50":...,"p99":...},
/// "ledger":...,"ended":...}. Without SUMMARY, ledgers are null.
std::string preview_status(std::span<const std::string> names, std::span<const PreviewStream::State> states,
                           const std::optional<Summary>& summary);

}  // namespace saccade
