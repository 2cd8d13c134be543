#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "saccade/error.hpp"
#include "saccade/frame.hpp"
#include "saccade/model.hpp"
#include "saccade/results.hpp"
#include "serve/trace_context.hpp"

namespace saccade::serve {

/// Why a request has no result.
enum class Refusal {
  kFull,       ///< as many wait as may, or there is no memory for one more
  kLate,       ///< its deadline passed while it waited
  kCancelled,  ///< its client has gone while it waited
  kStopped,    ///< the server is ending
};

/// Raw tensors, in the model's order, each with so many images along its first dimension.
struct TensorInput {
  std::span<const InputBuffer> tensors;
  std::size_t images = 1;
  /// Where outputs are written on the model's GPU, in the model's order; null: on the host. Empty: all are.
  std::span<void* const> outputs_on_device = {};
};

/// What a job runs on: raw tensors, or a frame. The job owns it.
using JobInput = std::variant<TensorInput, FrameView>;

inline std::size_t images_of(const JobInput& input) {
  const auto* tensors = std::get_if<TensorInput>(&input);
  return tensors == nullptr ? 1 : tensors->images;
}

/// Whether ERROR is of the request, and not of the machine.
bool is_of_request(const Error& error);

/// What a client may know of ERROR: what is wrong with the request, nothing about the machine. Logs the rest.
std::string sentence_of(const Error& error);
std::string sentence_of(Refusal reason);

/// How far a response is.
enum class Response {
  kSent,
  kUnwritten,  ///< write() sends it: it takes long
  kNoMemory,   ///< there is none for it now
};

/// A request for a model, from when it has come until it has its response. All but the constructor is called by threads
/// of the server, one at a time. One of respond(), refuse() and fail() is called, once; after a respond() that sent
/// nothing, refuse() for kNoMemory, and for kUnwritten write(), and fail() if that throws.
class Job {
 public:
  explicit Job(TraceContext trace = {}) : trace_(std::move(trace)) {}
  virtual ~Job() = default;

  /// What the client says of where it belongs.
  const TraceContext& trace() const { return trace_; }

  /// Reads the request: decodes its image, parses its tensors. Called before the others. False if there is no memory
  /// for that now, and it is to be refused. Throws what the request fails with.
  virtual bool prepare() = 0;
  /// What prepare() has read.
  virtual JobInput input() const = 0;
  /// When the request is to be refused if it has not begun to run.
  virtual std::optional<Clock::time_point> deadline() const = 0;
  /// Whether its client has cancelled it. Asked before it runs.
  virtual bool is_cancelled() const { return false; }

  /// The job was run on tensors. OUTPUTS are in the model's order; valid until this returns.
  virtual Response respond(std::span<const OutputBuffer> outputs) = 0;
  /// The same of a job that was run on a frame, and has RESULT.
  virtual Response respond(const Result& result) = 0;
  /// Sends what respond() has left unwritten. No model waits for the calling thread. Throws what the request fails
  /// with.
  virtual void write() {}
  /// A request that came now would wait for EXPECTED_WAIT.
  virtual void refuse(Refusal reason, std::chrono::nanoseconds expected_wait) = 0;
  virtual void fail(const Error& error) = 0;

 private:
  TraceContext trace_;
};

}  // namespace saccade::serve
