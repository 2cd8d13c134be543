#include "saccade/frame_session.hpp"

#include "base/error.hpp"
#include "pipeline/model/model_runner.hpp"

namespace saccade {
namespace {

void check(const FrameView& frame) {
  constexpr int kMaxSide = 1 << 28;  // a row of any format fits an int
  if (frame.width < 1 || frame.height < 1 || frame.width > kMaxSide || frame.height > kMaxSide)
    fail(ErrorCode::kInvalidArgument, "a frame of {}x{} pixels is invalid", frame.width, frame.height);
  if (frame.memory != MemoryKind::kPlain && frame.memory != MemoryKind::kPinned)
    fail(ErrorCode::kInvalidArgument, "the samples of a frame must be readable on the host");
  const auto sizes = plane_sizes(frame.format, frame.width, frame.height);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].rows == 0) continue;
    if (frame.planes[i] == nullptr)
      fail(ErrorCode::kInvalidArgument, "plane {} of a {} frame is missing", i, to_string(frame.format));
    if (frame.pitch_bytes[i] < sizes[i].row_bytes)
      fail(ErrorCode::kInvalidArgument, "the pitch of plane {} is {} bytes, but a row has {}", i, frame.pitch_bytes[i],
           sizes[i].row_bytes);
  }
}

}  // namespace

struct FrameSession::State {
  explicit State(const Model& model) : runner(model, 0) {}

  ModelRunner runner;
  Frame frame;
};

FrameSession::FrameSession(const Model& model) : state_(std::make_unique<State>(model)) {}

FrameSession::~FrameSession() = default;
FrameSession::FrameSession(FrameSession&&) noexcept = default;
FrameSession& FrameSession::operator=(FrameSession&&) noexcept = default;

const Result& FrameSession::run(const FrameView& frame) {
  check(frame);
  state_->frame.view = frame;
  state_->runner.run(state_->frame);
  ++state_->frame.sequence;
  Result& result = state_->runner.result();
  result.latency.total = result.latency.pre + result.latency.model + result.latency.post;
  return result;
}

}  // namespace saccade
