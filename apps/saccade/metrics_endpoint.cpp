#include "metrics_endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/input_file.hpp"
#include "base/module.hpp"
#include "flags/numbers.hpp"
#include "measure/live/http_module.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

constexpr std::string_view kPath = "/metrics";

bool is_v4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_v6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool is_loopback(const std::string& host) {
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) == 1) return IN6_IS_ADDR_LOOPBACK(&address);
  return host.starts_with("127.");
}

/// "[HOST:]PORT"; an IPv6 address stands in brackets.
void parse_address(MetricsFlags& flags, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const std::optional<std::uint16_t> number = read_number<std::uint16_t>(port);
  if (!number) throw UsageError("--metrics", fmt::format("'{}' is not a port: it is [HOST:]PORT, as 9090", text));
  if (is_bracketed ? !is_v6(host) : !is_v4(host))
    throw UsageError("--metrics",
                     fmt::format("'{}' is not an address: HOST is an IP address of this machine, an IPv6 address in "
                                 "brackets, or localhost",
                                 text));
  flags.host = host;
  flags.port = *number;
}

/// The token in FILE. Throws Error.
std::string read_token(const std::string& file) {
  constexpr std::size_t kShortest = 16;
  constexpr std::size_t kLongest = 4096;
  std::string token = read_input(file, kLongest);
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  const bool is_printable = std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
  if (token.size() < kShortest || !is_printable)
    throw Error(ErrorCode::kInvalidFile,
                fmt::format("{} does not hold a token: {} or more printable ASCII characters without spaces, as "
                            "`openssl rand -hex 32` prints",
                            file, kShortest));
  return token;
}

HttpOptions options_of(const MetricsFlags& flags) {
  HttpOptions options{.host = flags.host, .port = flags.port, .certificate = {}, .key = {}, .token = {}};
  if (!flags.tls.empty()) {
    options.certificate = flags.tls[0];
    options.key = flags.tls[1];
    for (const std::string& file : flags.tls) check_input(file);
  }
  if (!flags.token_file.empty()) options.token = read_token(flags.token_file);
  return options;
}

}  // namespace

void MetricsFlags::bind(FlagBinder& binder) {
  binder.bind("--metrics", [this](const std::string& text) { parse_address(*this, text); });
  binder.bind("--tls", &tls);
  binder.bind("--token-file", &token_file);
  binder.bind("--insecure", &insecure);
}

void MetricsFlags::check() const {
  if (port < 0 || insecure || is_loopback(host) || (!tls.empty() && !token_file.empty())) return;
  throw UsageError("--metrics", fmt::format("{} can be reached from other machines: protect it with --tls and "
                                            "--token-file, or accept that with --insecure",
                                            host));
}

struct MetricsEndpoint::State {
  std::mutex mutex;
  // Of show(); null before and after it.
  const Pipeline* pipeline = nullptr;
  std::optional<RunMonitor> monitor;
  std::unique_ptr<HttpServer> server;  // last member: its threads use all the others

  RunState read() {
    const std::scoped_lock lock(mutex);
    RunState state;
    state.process = process_state();
    if (monitor) {
      state.gpu = monitor->gpu();
      state.gpu_ordinal = monitor->gpu_ordinal();
    }
    if (pipeline != nullptr) state.summary = pipeline->summary();
    return state;
  }
};

MetricsEndpoint::MetricsEndpoint(const MetricsFlags& flags) {
  if (flags.port < 0) return;
  state_ = std::make_unique<State>();
  const auto& http = module<HttpModule>("http");
  State& state = *state_;
  state.server =
      http.listen(options_of(flags),
                  {{.path = std::string(kPath), .reply = [&state, &http] { return http.metrics(state.read()); }}});
  const std::string host = is_v6(flags.host) ? "[" + flags.host + "]" : flags.host;
  print_aside(
      fmt::format("metrics: http{}://{}:{}{}\n", flags.tls.empty() ? "" : "s", host, state.server->port(), kPath));
}

MetricsEndpoint::~MetricsEndpoint() = default;

MetricsEndpoint::Shown MetricsEndpoint::show(const Pipeline& pipeline, std::span<const Model> models) {
  if (state_ != nullptr) {
    const std::scoped_lock lock(state_->mutex);
    state_->monitor.emplace(models);
    state_->pipeline = &pipeline;
  }
  return Shown(*this);
}

void MetricsEndpoint::hide() noexcept {
  if (state_ == nullptr) return;
  const std::scoped_lock lock(state_->mutex);
  state_->pipeline = nullptr;
}

}  // namespace saccade::app
