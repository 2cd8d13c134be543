#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "measure/peers/child_process.hpp"
#include "measure/peers/contender.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The engines that a peer can be.
std::span<const std::string_view> peer_engines();

/// The Python that has the peers' packages: GIVEN, else $SACCADE_PEERS_PYTHON, else .venv-peers of the project that the
/// working directory or this program lies in. Throws Error (kNotFound) saying how to get one.
std::string find_peers_python(const std::string& given);

/// An input's name and the .npy file that holds it.
struct FedInput {
  std::string name;
  std::string file;
};

/// What a peer is to load. ONNX Runtime and OpenVINO compute in fp32 on the CPU whatever is asked for.
struct PeerLoad {
  std::string model;  ///< an ONNX file
  int threads = 1;
  std::string device = "cpu";      ///< or "cuda"
  std::string precision = "fp32";  ///< "tf32", "fp16", "bf16"
  std::span<const FedInput> inputs;
};

/// How long a peer may take before it counts as hung.
struct PeerPatience {
  std::chrono::milliseconds start = std::chrono::seconds(60);
  std::chrono::milliseconds load = std::chrono::seconds(600);  ///< what is tuned is compiled for minutes
  std::chrono::milliseconds answer = std::chrono::seconds(120);
};

/// Another engine as a contender: a process of its own that runs src/measure/peers/peer.py's line protocol.
class Peer : public Contender {
 public:
  /// Starts ENGINE with PYTHON; FOLDER holds what the two exchange. Throws Error (kNotFound where Python or the
  /// engine's package is missing).
  Peer(std::string engine, const std::string& python, std::string folder, const PeerPatience& patience = {});
  /// The same with COMMAND as the process.
  Peer(std::string engine, std::vector<std::string> command, std::string folder, const PeerPatience& patience);

  const std::string& name() const override { return name_; }
  const std::string& version() const { return version_; }

  void load(const PeerLoad& load);
  /// Its outputs, in the model's order; the inputs stay bound.
  std::vector<Tensor> answer(std::span<const FedInput> inputs, const std::string& prefix);
  Block run(int unmeasured, int runs) override;
  /// Nothing to do: a peer answers when it is quiet.
  void settle() override {}
  std::int64_t peak_bytes();

 private:
  void greet();
  /// Throws Error naming the peer: what it reports, or that it ended, hung or spoke nonsense.
  nlohmann::json ask(const nlohmann::json& request, std::chrono::milliseconds timeout);
  nlohmann::json listen(std::chrono::milliseconds timeout);

  std::string name_;
  std::string version_;
  std::string folder_;
  PeerPatience patience_;
  ChildProcess process_;
  double slowest_seconds_ = 0;  ///< of the runs so far
};

}  // namespace saccade
