#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/report_text.hpp"
#include "measure/demo/demo.hpp"
#include "measure/report/page.hpp"

namespace saccade {

/// The result of a demo for a terminal of 80 columns: rate, latencies, each stage's bound and headroom, accuracy.
/// IS_UTF8: whether the terminal supports it.
ReportText to_text(const DemoResult& result, bool is_utf8);
/// The report of `profile` without its launches, plus "ap50", "ap", "classes", "conditions"; "latency_ms" is the time
/// of a frame from its pre-processing to its boxes.
nlohmann::ordered_json to_json(const DemoResult& result);
/// All results as a page with images and charts. FOLDER contains the result's images. Throws Error (kIo) if one cannot
/// be read.
Page to_page(const DemoResult& result, const std::filesystem::path& folder);

}  // namespace saccade
