#include "metrics_endpoint.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "base/http_module.hpp"
#include "base/module.hpp"
#include "measure/live/run_state.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

constexpr std::string_view kPath = "/metrics";

HttpOptions options_of(const ServerFlags& flags) {
  HttpOptions options{
      .host = flags.metrics.host, .port = flags.metrics.port, .certificate = {}, .key = {}, .token = {}};
  if (!flags.tls.empty()) {
    options.certificate = flags.tls[0];
    options.key = flags.tls[1];
  }
  options.token = flags.token();
  return options;
}

}  // namespace

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
    if (monitor) state.gpus = monitor->gpus();
    if (pipeline != nullptr) state.summary = pipeline->summary();
    return state;
  }
};

MetricsEndpoint::MetricsEndpoint(const ServerFlags& flags) {
  if (!flags.metrics.is_given()) return;
  state_ = std::make_unique<State>();
  const auto& http = module<HttpModule>("http");
  State& state = *state_;
  state.server = http.listen(options_of(flags),
                             {{.path = std::string(kPath), .reply = [&state, &http](const HttpRequest& /*request*/) {
                                 return http.metrics(state.read());
                               }}});
  const std::string& given = flags.metrics.host;
  const std::string host = given.find(':') != std::string::npos ? "[" + given + "]" : given;
  print_aside(
      fmt::format("metrics: http{}://{}:{}{}\n", flags.tls.empty() ? "" : "s", host, state.server->port(), kPath));
}

MetricsEndpoint::~MetricsEndpoint() = default;

MetricsEndpoint::Shown MetricsEndpoint::show(const Pipeline& pipeline, std::span<const Model> models,
                                             std::span<const Device> devices) {
  if (state_ != nullptr) {
    const std::scoped_lock lock(state_->mutex);
    state_->monitor.emplace(models, devices);
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
