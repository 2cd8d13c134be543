#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <saccade/saccade.hpp>
#include <thread>
#include <vector>

#include "base/host_port.hpp"
#include "base/module.hpp"
#include "batch_flags.hpp"
#include "command.hpp"
#include "common.hpp"
#include "interrupt.hpp"
#include "measure/live/run_monitor.hpp"
#include "report.hpp"
#include "serve/grpc_module.hpp"
#include "serve/http_api.hpp"
#include "serve/repository.hpp"
#include "server_flags.hpp"

namespace saccade::app {
namespace {

struct ServeFlags {
  CommonFlags common;
  ServeAddressFlags address;
  std::vector<std::string> models;
  std::string folder;
  serve::ExecutionOptions execution;
  serve::ApiOptions api;
  std::string access_log;
  serve::MemoryOptions memory;
};

nlohmann::json to_json(const serve::Repository& models) {
  auto rows = nlohmann::json::array();
  for (const auto& [name, use] : models.use())
    rows.push_back({{"name", name},
                    {"run", use.run},
                    {"failed", use.failed},
                    {"refused", use.refused},
                    {"cancelled", use.cancelled},
                    {"invalid", use.invalid},
                    {"executions", use.executions}});
  return {{"models", rows}};
}

std::string to_text(const serve::Repository& models) {
  std::string text;
  for (const auto& [name, use] : models.use())
    text += fmt::format("{}: {} requests run, {} failed, {} refused, {} cancelled, {} invalid, in {} executions\n",
                        printable(name), use.run, use.failed, use.refused, use.cancelled, use.invalid, use.executions);
  return text;
}

/// What the names of shared memory objects begin with.
std::string parse_prefix(const std::string& text) {
  std::string prefix = text.substr(text.starts_with('/') ? 1 : 0);
  if (prefix.empty() || prefix.find('/') != std::string::npos)
    throw UsageError("--shared-memory",
                     fmt::format("'{}' is not the beginning of names of shared memory objects, as camera-", text));
  return prefix;
}

/// As many connections as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/// Null without --grpc.
std::unique_ptr<serve::GrpcServer> listen_for_grpc(const ServeFlags& flags, serve::Repository& models,
                                                   serve::MemoryRegions& regions, serve::AccessLog* log) {
  if (!flags.address.grpc.is_given()) return nullptr;
  serve::GrpcOptions options = flags.address.grpc_options();
  options.most_bytes = flags.api.most_bytes;
  options.access_log = log;
  return module<serve::GrpcModule>("grpc").listen(options, models, regions);
}

/// Both at once: neither takes requests while the other ends.
void drain(HttpServer& http, serve::GrpcServer* grpc) {
  const std::jthread other([grpc] {
    if (grpc != nullptr) grpc->drain();
  });
  http.drain();
}

/// What the models run on.
std::vector<Device> devices_of(const serve::Repository& models) {
  std::vector<Device> devices;
  for (const std::string& name : models.names())
    models.with(name, [&](const serve::ServedModel& model) {
      devices.insert(devices.end(), model.devices().begin(), model.devices().end());
    });
  return devices;
}

int run_server(const ServeFlags& flags) {
  if (flags.memory.permits_cuda && !has_cuda_driver())
    fail(ErrorCode::kNotFound, "--cuda-shared-memory needs NVIDIA's driver, which is not installed");
  raise_descriptor_limit();
  HttpOptions options = flags.address.options();
  // One thread reads and writes some ten thousand small requests per second; large tensors need more.
  constexpr unsigned kMostThreads = 4;
  constexpr unsigned kMostWorkers = 16;
  options.threads = std::clamp(std::thread::hardware_concurrency() / 4, 1U, kMostThreads);
  // What is left of requests at the end uses them.
  serve::MemoryRegions regions(flags.memory);
  std::optional<serve::AccessLog> log;
  if (!flags.access_log.empty()) log.emplace(flags.access_log);
  // They decode images and JSON while models run.
  serve::Workers workers(std::clamp(std::thread::hardware_concurrency() / 2, 1U, kMostWorkers));
  serve::Repository models(
      [&](const std::string& path) {
        return std::make_unique<serve::ServedModel>(Model::load(path, flags.common.model), flags.execution, workers);
      },
      flags.folder);
  for (const std::string& path : flags.models) models.add(path);
  models.add_folder();
  serve::Workers controls(1);  // the repository changes one model at a time
  std::vector<Device> devices = devices_of(models);
  // Clients may load others for them.
  devices.insert(devices.end(), flags.execution.devices.begin(), flags.execution.devices.end());
  const RunMonitor monitor({}, devices);
  serve::ApiOptions api = flags.api;
  api.access_log = log ? &*log : nullptr;
  const auto& web = module<HttpModule>("http");
  std::vector<HttpRoute> routes = serve::routes(models, controls, regions, api);
  routes.push_back({.path = "/metrics", .reply = [&](const HttpRequest& /*request*/) {
                      return web.serve_metrics({models.use(), monitor.process(), monitor.gpus()});
                    }});
  (void)interrupted();  // from the first request on, a signal drains
  const auto http = web.listen(options, std::move(routes));
  const auto grpc = listen_for_grpc(flags, models, regions, api.access_log);
  print_aside(fmt::format("http: http{}://{}/v2\n", options.certificate.empty() ? "" : "s",
                          host_port(options.host, http->port())));
  if (grpc != nullptr) print_aside(fmt::format("grpc: {}\n", host_port(flags.address.grpc.host, grpc->port())));
  constexpr auto kPause = std::chrono::milliseconds(50);
  while (!interrupted()) std::this_thread::sleep_for(kPause);
  drain(*http, grpc.get());
  print_result(
      flags.common.json, [&] { return to_json(models); }, [&] { return to_text(models); });
  if (log) log->check();
  return kOk;
}

}  // namespace

Action add_serve(FlagBinder& binder) {
  const auto flags = std::make_shared<ServeFlags>();
  binder.bind("MODEL", &flags->models);
  binder.bind("--model-dir", &flags->folder);
  bind_batch(binder, flags->execution.batch, flags->execution.batch_wait);
  binder.bind("--executions", &flags->execution.executions);
  binder.bind("--queue", &flags->execution.queue);
  binder.bind("--access-log", &flags->access_log);
  binder.bind("--shared-memory", [flags](const std::string& prefix) { flags->memory.prefix = parse_prefix(prefix); });
  binder.bind("--cuda-shared-memory", &flags->memory.permits_cuda);
  binder.bind("--max-body", &flags->api.most_bytes);
  binder.bind("--max-pixels", &flags->api.most_pixels);
  flags->address.bind(binder);
  flags->common.bind_with_devices(binder, flags->execution.devices);
  flags->common.bind_predictions(binder);
  return {.run = [flags] { return run_server(*flags); }, .check = [flags] { flags->address.check(); }};
}

}  // namespace saccade::app
