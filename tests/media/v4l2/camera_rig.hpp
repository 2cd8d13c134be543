#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "media/v4l2/camera.hpp"
#include "media/v4l2/fake_calls.hpp"
#include "pipeline/model/frame_pool.hpp"

namespace saccade::test {

/// What ACT throws, "CODE: message"; "no error".
inline std::string refusal_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "no error";
}

/// Memory of frames that begins at a page, as that of a GPU does.
class PageMemory final : public FrameMemory {
 public:
  explicit PageMemory(MemoryKind kind = MemoryKind::kPlain) : kind_(kind) {}
  MemoryKind kind() const override { return kind_; }
  std::byte* allocate(std::size_t bytes) override {
    return static_cast<std::byte*>(::operator new (bytes + 64, std::align_val_t{4096}));
  }
  void deallocate(std::byte* memory) noexcept override { ::operator delete (memory, std::align_val_t{4096}); }

 private:
  MemoryKind kind_;
};

/// A reader of a fake camera, with the pool of a pipeline.
struct CameraRig {
  std::shared_ptr<FakeCalls> calls;
  std::shared_ptr<FakeCamera> camera;
  PageMemory memory;
  saccade::FramePool pool;
  std::unique_ptr<FrameReader> reader;

  explicit CameraRig(FakeCamera fake = {}, const std::string& uri = FakeCalls::kNode,
                     MemoryKind kind = MemoryKind::kPlain, std::size_t buffers = 8)
      : calls(std::make_shared<FakeCalls>(std::move(fake))),
        camera(calls->share()),
        memory(kind),
        pool(buffers, memory),
        reader(v4l2::open_camera(uri, {}, calls)) {}

  Outcome<Frame> read() { return reader->read(pool); }
  /// The next frame; timeouts are passed over. What else happens is in `last`.
  std::optional<Frame> frame() {
    for (;;) {
      Outcome<Frame> outcome = read();
      if (outcome) return std::move(*outcome);
      last = outcome.failure();
      if (last.status != Status::kTimeout) return std::nullopt;
      ++timeouts;
    }
  }

  Failure last{Status::kEnd, {}};
  int timeouts = 0;
};

}  // namespace saccade::test
