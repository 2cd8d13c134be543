#include "metrics_endpoint.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "base/host_port.hpp"
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
  explicit State(PipelineView& shown) : view(shown) {}

  PipelineView& view;
  std::mutex mutex;
  std::optional<RunMonitor> monitor;
  std::unique_ptr<HttpServer> server;  // last member: its threads use all the others

  RunState read() {
    RunState state;
    state.process = process_state();
    state.summary = view.summary();
    const std::scoped_lock lock(mutex);
    if (monitor) state.gpus = monitor->gpus();
    return state;
  }
};

MetricsEndpoint::MetricsEndpoint(const ServerFlags& flags, PipelineView& view) {
  if (!flags.metrics.is_given()) return;
  state_ = std::make_unique<State>(view);
  const auto& http = module<HttpModule>("http");
  State& state = *state_;
  state.server = http.listen(options_of(flags),
                             {{.path = std::string(kPath), .reply = [&state, &http](const HttpRequest& /*request*/) {
                                 return http.metrics(state.read());
                               }}});
  print_aside(fmt::format("metrics: http{}://{}{}\n", flags.tls.empty() ? "" : "s",
                          host_port(flags.metrics.host, state.server->port()), kPath));
}

MetricsEndpoint::~MetricsEndpoint() = default;

void MetricsEndpoint::monitor(std::span<const Model> models, std::span<const Device> devices) {
  if (state_ == nullptr) return;
  const std::scoped_lock lock(state_->mutex);
  state_->monitor.emplace(models, devices);
}

}  // namespace saccade::app
