#include "pipeline/sinks/preview_page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/clock.hpp"
#include "embedded/preview_page.hpp"
#include "pipeline/sinks/json_text.hpp"
#include "pipeline/sinks/ledger_json.hpp"

namespace saccade {
namespace {

// A browser has six connections to a server. With more streams the page requests one image after the other.
constexpr std::size_t kMostLive = 4;

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string preview_page(std::span<const std::string> names) {
  constexpr std::string_view kPlace = "<!-- streams -->";
  const bool is_live = names.size() <= kMostLive;
  std::string figures;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = html_text(names[i]);
    figures += fmt::format(
        "<figure><img data-src=\"stream/{0}.{1}\" "
        "alt=\"{2}\"><figcaption><b>{2}</b><span></span><p></p></figcaption></figure>\n",
        i, is_live ? "mjpg" : "jpg", name);
  }
  std::string page(embedded::preview_page);
  return page.replace(page.find(kPlace), kPlace.size(), figures);
}

std::string preview_status(std::span<const std::string> names, std::span<const PreviewStream::State> states,
                           const std::optional<Summary>& summary) {
  JsonBuffer out;
  append(out, "[");
  for (std::size_t i = 0; i < states.size(); ++i) {
    const PreviewStream::State& state = states[i];
    append(out, R"({}{{"stream":{},"name":)", i == 0 ? "" : ",", i);
    append_json_string(out, names[i]);
    append(out, R"(,"frames":{},"frame_rate":{:.1f},"objects":{},"latency_ms":{{"p50":{:.4f},"p99":{:.4f}}},"ledger":)",
           state.frames, state.frame_rate, state.objects, to_milliseconds(state.p50), to_milliseconds(state.p99));
    if (summary)
      append_ledger(out, summary->streams[i].ledger);
    else
      append(out, "null");
    append(out, R"(,"ended":{}}})", state.ended);
  }
  append(out, "]\n");
  return {out.data(), out.size()};
}

}  // namespace saccade
