#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "measure/peers/child_process.hpp"
#include "measure/peers/contender.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The supported engines.
std::span<const std::string_view> peer_engines();

/// The Python that has the peers' packages: GIVEN, else $SACCADE_PEERS_PYTHON, else .venv-peers of the project that
/// contains the working directory or this program. Throws Error (kNotFound) saying how to install one.
std::string find_peers_python(const std::string& given);

/// An input's name and the .npy file with its contents.
struct FedInput {
  std::string name;
  std::string file;
};

/// The arguments of a load. ONNX Runtime and OpenVINO compute on the CPU: in fp32, OpenVINO also in bf16.
struct PeerLoad {
  std::string model;  ///< an ONNX file
  int threads = 1;
  std::string device = "cpu";      ///< or "cuda"
  std::string precision = "fp32";  ///< "tf32", "fp16", "bf16"
  std::span<const FedInput> inputs;
};

/// Timeouts after which a peer is considered hung.
struct PeerPatience {
  std::chrono::milliseconds start = std::chrono::seconds(60);
  std::chrono::milliseconds load = std::chrono::seconds(600);  ///< autotuning compiles for minutes
  std::chrono::milliseconds reply = std::chrono::seconds(120);
};

/// Another engine as a contender: a process with the line protocol of src/measure/peers/peer.py.
class Peer : public Contender {
 public:
  /// Starts ENGINE with PYTHON; FOLDER holds exchanged files. Throws Error (kNotFound if Python or the engine's package
  /// is missing).
  Peer(std::string engine, const std::string& python, std::string folder, const PeerPatience& patience = {});
  /// The same with COMMAND as the process.
  Peer(std::string engine, std::vector<std::string> command, std::string folder, const PeerPatience& patience);

  const std::string& name() const override { return name_; }
  const std::string& version() const { return version_; }

  void load(const PeerLoad& load);
  /// Its outputs, in the model's order; the inputs stay bound.
  std::vector<Tensor> infer(std::span<const FedInput> inputs, const std::string& prefix);
  Block run(int unmeasured, int runs) override;
  /// Nothing to do: a peer responds once it is idle.
  void wait_until_idle() override {}
  std::int64_t peak_bytes();

 private:
  void handshake();
  /// Throws Error naming the peer: what it reports, or that it ended, hung or sent an invalid response.
  nlohmann::json request(const nlohmann::json& request, std::chrono::milliseconds timeout);
  nlohmann::json receive(std::chrono::milliseconds timeout);

  std::string name_;
  std::string version_;
  std::string folder_;
  PeerPatience patience_;
  ChildProcess process_;
  double slowest_seconds_ = 0;  ///< of the runs so far
};

}  // namespace saccade
