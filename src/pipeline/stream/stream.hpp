#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/bounded_queue.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/stream/frame_selection.hpp"
#include "pipeline/stream/outage_log.hpp"
#include "pipeline/stream/stream_ledger.hpp"
#include "pipeline/stream/warning_limits.hpp"
#include "saccade/telemetry.hpp"

namespace saccade {

/// Reads one source ahead on its own thread into its lane of the queue, and counts every frame.
class Stream {
 public:
  struct Place {
    std::size_t lane = 0;
    std::size_t buffers = 0;      ///< maximum number of frames in existence
    std::int64_t max_frames = 0;  ///< 0: all
    FrameSelection selection;
    FrameMemory* memory = nullptr;  ///< memory of the frames, outlives the stream; null: the heap
    std::size_t max_memory = 0;     ///< limit of all streams' frames, in bytes; 0: default_memory_limit()
    const char* memory_flag = "--max-model-memory";  ///< raises it
  };

  /// Starts to read. READER and QUEUE must outlive the stream.
  Stream(FrameReader& reader, BoundedQueue<Frame>& queue, const Place& place);
  /// The queue must be cancelled or the lane closed, and every frame of the stream released.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Requests the thread to end; does not wait. Any thread.
  void cancel() noexcept;
  /// Waits for the thread to end.
  void join();

  StreamLedger& ledger() { return ledger_; }
  const StreamLedger& ledger() const { return ledger_; }
  const SourceInfo& info() const { return reader_.info(); }
  /// Any thread.
  StreamState state() const;
  /// Any thread.
  Outages outages() const { return outages_.snapshot(Clock::now()); }
  /// Any thread.
  SourceFaults faults() const { return reader_.faults(); }
  /// Whether nothing more is read. Any thread.
  bool has_ended() const noexcept { return has_ended_; }
  /// Why the source was lost or unreadable; empty otherwise. Valid once it has_ended().
  const std::string& fault() const { return fault_; }

 private:
  void read_all() noexcept;
  void read_until_end();
  bool read_one();
  void warn(const std::string& message);
  void warn_of_first();
  void arrive();
  void miss(const std::string& message);
  bool deliver(Frame frame);

  FrameReader& reader_;
  BoundedQueue<Frame>& queue_;
  Place place_;
  int held_buffers_;  ///< the most that the reader may hold, before it has read
  FramePool pool_;
  FrameSelector selector_;
  StreamLedger ledger_;
  OutageLog outages_;
  OutageMessages outage_messages_;
  HourlyWarnings warnings_;  ///< of corrupt frames
  std::string fault_;
  std::string first_damage_;  ///< of the first frame
  /// Whether no warning has it yet: if no frame can be read, it is the fault, which no warning repeats.
  bool is_held_ = false;
  std::atomic<bool> has_ended_{false};
  std::thread thread_;  // last member: the thread uses all the others
};

}  // namespace saccade
