#include "measure/peers/peer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "measure/peers/peer_files.hpp"
#include "saccade/npy.hpp"

namespace saccade {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 6> kEngines = {"onnxruntime", "openvino",      "torch-eager",
                                                      "torch-graph", "torch-compile", "torch-autotune"};
constexpr std::string_view kHowToGet =
    "run script/bootstrap --peers (PyTorch is not among them), or name a Python that has it with --peers-python or "
    "SACCADE_PEERS_PYTHON";

json fed(std::span<const FedInput> inputs) {
  json rows = json::array();
  for (const FedInput& input : inputs) rows.push_back({input.name, input.file});
  return rows;
}

/// FOLDER/.venv-peers/bin/python, or in a parent folder.
std::string find_above(std::filesystem::path folder) {
  std::error_code ignored;
  for (;; folder = folder.parent_path()) {
    const auto python = folder / ".venv-peers/bin/python";
    if (std::filesystem::exists(python, ignored)) return python.string();
    if (!folder.has_relative_path()) return {};
  }
}

}  // namespace

std::span<const std::string_view> peer_engines() { return kEngines; }

std::string find_peers_python(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* named = std::getenv("SACCADE_PEERS_PYTHON"); named != nullptr && *named != '\0') return named;
  // Not in parents of the current folder, which may be anyone's: the file is executed.
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (std::string found = find_above(here); !found.empty()) return found;
  fail(ErrorCode::kNotFound, "there is no Python with the engines to compare with: {}", kHowToGet);
}

Peer::Peer(std::string engine, const std::string& python, std::string folder, const PeerPatience& patience)
    : Peer(engine, {python, write_peer_files(folder), engine}, folder, patience) {}

Peer::Peer(std::string engine, std::vector<std::string> command, std::string folder, const PeerPatience& patience)
    : name_(std::move(engine)), folder_(std::move(folder)), patience_(patience), process_([&] {
        try {
          return ChildProcess(command, folder_ + "/" + name_ + ".stderr");
        } catch (const Error& error) {
          if (error.code() != ErrorCode::kNotFound) throw;
          fail(ErrorCode::kNotFound, "{}: {}", error.what(), kHowToGet);
        }
      }()) {
  handshake();
}

void Peer::handshake() {
  const json hello = receive(patience_.start);
  if (hello.contains("missing"))
    fail(ErrorCode::kNotFound, "{} can't be run ({}): {}", name_, hello["missing"].dump(), kHowToGet);
  if (!hello.contains("version") || !hello["version"].is_string())
    fail(ErrorCode::kIo, "{} did not say its version but {}", name_, hello.dump());
  version_ = hello["version"];
}

json Peer::receive(std::chrono::milliseconds timeout) {
  std::string line;
  try {
    line = process_.read_line(timeout);
  } catch (const Error& error) {
    throw error.in(name_);
  }
  json reply = json::parse(line, nullptr, false);
  if (!reply.is_object()) fail(ErrorCode::kIo, "{} sent an invalid response: '{}'", name_, line.substr(0, 200));
  if (reply.contains("error")) fail(ErrorCode::kUnsupported, "{}: {}", name_, reply.value("error", "no reason given"));
  return reply;
}

json Peer::request(const json& request, std::chrono::milliseconds timeout) {
  try {
    process_.write_line(request.dump());
  } catch (const Error& error) {
    throw error.in(name_);
  } catch (const json::type_error&) {  // the only one that dump() throws
    fail(ErrorCode::kUnsupported,
         "{}: the name of the model's file or of an input is not UTF-8, which its requests can't hold; rename it",
         name_);
  }
  return receive(timeout);
}

void Peer::load(const PeerLoad& load) {
  request({{"do", "load"},
           {"model", load.model},
           {"threads", load.threads},
           {"device", load.device},
           {"precision", load.precision},
           {"inputs", fed(load.inputs)}},
          patience_.load);
}

std::vector<Tensor> Peer::infer(std::span<const FedInput> inputs, const std::string& prefix) {
  const json reply = request({{"do", "infer"}, {"inputs", fed(inputs)}, {"prefix", prefix}}, patience_.reply);
  std::vector<Tensor> outputs;
  try {
    for (const json& file : reply.at("files")) outputs.push_back(load_npy(file.get<std::string>()));
  } catch (const json::exception&) {
    fail(ErrorCode::kIo, "{} named no outputs but {}", name_, reply.dump());
  }
  return outputs;
}

Block Peer::run(int unmeasured, int runs) {
  // A hundred times the time of the slowest run so far.
  const std::chrono::duration<double, std::milli> expected(1e5 * slowest_seconds_ * (unmeasured + runs));
  const auto patience = std::max(patience_.reply, std::chrono::ceil<std::chrono::milliseconds>(expected));
  const json reply = request({{"do", "run"}, {"unmeasured", unmeasured}, {"runs", runs}}, patience);
  Block block;
  try {
    for (const json& time : reply.at("ns")) block.latencies.emplace_back(time.get<std::int64_t>());
    block.wall = std::chrono::nanoseconds(reply.at("wall_ns").get<std::int64_t>());
  } catch (const json::exception&) {
    fail(ErrorCode::kIo, "{} named no times but {}", name_, reply.dump().substr(0, 200));
  }
  if (block.latencies.size() != static_cast<std::size_t>(runs))
    fail(ErrorCode::kIo, "{0} timed {2} runs instead of {1}", name_, runs, block.latencies.size());
  slowest_seconds_ =
      std::max(slowest_seconds_, std::chrono::duration<double>(*std::ranges::max_element(block.latencies)).count());
  return block;
}

std::int64_t Peer::peak_bytes() {
  return request({{"do", "memory"}}, patience_.reply).value("peak_bytes", std::int64_t{0});
}

}  // namespace saccade
