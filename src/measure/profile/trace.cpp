#include "measure/profile/trace.hpp"

#include <algorithm>
#include <set>

#include "pipeline/sinks/json_text.hpp"

namespace saccade {
namespace {

constexpr int kProcess = 1;
constexpr int kModelThread = 1;
constexpr int kFirstSourceThread = 2;

/// Consecutive launches of one stage.
struct StageGroup {
  Stage stage = Stage::kModel;
  std::vector<std::size_t> launches;  ///< indices into Profile::launches
};

std::vector<StageGroup> groups_of(const Profile& profile) {
  std::vector<StageGroup> groups;
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    const Stage stage = profile.launches[i].stage;
    if (groups.empty() || groups.back().stage != stage) groups.push_back({.stage = stage});
    groups.back().launches.push_back(i);
  }
  return groups;
}

class TraceWriter {
 public:
  TraceWriter(const Profile& profile, OutputFile& file) : profile_(profile), file_(file), groups_(groups_of(profile)) {}

  void write() {
    append(out_, R"({{"displayTimeUnit":"ms","otherData":)");
    about();
    append(out_, R"(,"traceEvents":[)");
    names();
    origin_ = Clock::time_point::max();
    for (const FrameRecord& record : profile_.trace.frames)
      origin_ = std::min({origin_, record.times.capture_start, record.times.started});
    for (std::size_t i = 0; i < profile_.trace.frames.size(); ++i) {
      frame(profile_.trace.frames[i], profile_.trace.steps_of(i));
      if (out_.size() > std::size_t{1} << 20U) drain();
    }
    append(out_, "\n]}}\n");
    drain();
    file_.close();
  }

 private:
  void drain() {
    file_.write({out_.data(), out_.size()});
    out_.clear();
  }

  void about() {
    append(out_, R"({{"model":)");
    append_json_string(out_, profile_.model);
    append(out_, R"(,"source":)");
    append_json_string(out_, profile_.source);
    append(out_, R"(,"device":)");
    append_json_string(out_, profile_.plan->backend().device_name());
    append(out_, R"(,"frames":"{}","frames_left_out":"{}"}})", profile_.trace.frames.size(), profile_.trace.left_out);
  }

  void name_thread(std::string_view event, int thread, std::string_view name) {
    append(out_, R"({}{{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":)", first_ ? "\n" : ",\n", event,
           kProcess, thread);
    append_json_string(out_, name);
    append(out_, "}}}}");
    first_ = false;
  }

  void names() {
    name_thread("process_name", kModelThread, "saccade profile " + profile_.model);
    name_thread("thread_name", kModelThread, "model");
    if (profile_.source.empty()) return;
    std::set<int> streams;
    for (const FrameRecord& record : profile_.trace.frames) streams.insert(record.stream);
    for (const int stream : streams)
      name_thread("thread_name", kFirstSourceThread + stream, fmt::format("capture {}", stream));
  }

  double microseconds(Clock::time_point time) const {
    return static_cast<double>(std::chrono::nanoseconds(time - origin_).count()) / 1e3;
  }

  /// Writes the beginning of an event up to its args, which are left open.
  void begin(char phase, std::string_view name, std::string_view category, int thread, Clock::time_point time) {
    append(out_, R"(,{}{{"ph":"{}","name":)", "\n", phase);
    append_json_string(out_, name);
    append(out_, R"(,"cat":"{}","pid":{},"tid":{},"ts":{:.3f})", category, kProcess, thread, microseconds(time));
  }

  void identity(const FrameRecord& record) {
    append(out_, R"(,"args":{{"stream":{},"frame":{})", record.stream, record.frame);
  }

  void span(std::string_view name, std::string_view category, int thread, Clock::time_point start,
            Clock::time_point end, const FrameRecord& record) {
    begin('X', name, category, thread, start);
    append(out_, R"(,"dur":{:.3f})", static_cast<double>(std::chrono::nanoseconds(end - start).count()) / 1e3);
    identity(record);
  }

  void close() { append(out_, "}}}}"); }

  void frame(const FrameRecord& record, std::span<const StepTime> steps) {
    const FrameTimes& times = record.times;
    if (!profile_.source.empty()) capture(record);
    span(fmt::format("frame {}", record.frame), "frame", kModelThread, times.started, times.finished, record);
    close();
    Clock::time_point start = times.started;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      // Reading the results belongs to the last stage.
      const bool last = i + 1 == groups_.size();
      const Clock::time_point end =
          last ? times.finished : steps[profile_.launches[groups_[i].launches.back()].step].end;
      stage(groups_[i], start, end, record, steps);
      start = end;
    }
  }

  void stage(const StageGroup& group, Clock::time_point start, Clock::time_point end, const FrameRecord& record,
             std::span<const StepTime> steps) {
    span(to_string(group.stage), "stage", kModelThread, start, end, record);
    close();
    for (const std::size_t i : group.launches) {
      const LaunchProfile& launch = profile_.launches[i];
      span(launch.operation, "launch", kModelThread, steps[launch.step].start, steps[launch.step].end, record);
      append(out_, R"(,"node":)");
      append_json_string(out_, launch.node);
      append(out_, R"(,"tactic":)");
      append_json_string(out_, launch.tactic);
      close();
    }
  }

  void capture(const FrameRecord& record) {
    const int thread = kFirstSourceThread + record.stream;
    const FrameTimes& times = record.times;
    span("capture", "capture", thread, times.capture_start, times.captured, record);
    close();
    // Waits in the queue overlap: asynchronous spans, matched by name and number, on a track of their own.
    for (const char phase : {'b', 'e'}) {
      begin(phase, "queue", "queue", thread, phase == 'b' ? times.captured : times.fetched);
      append(out_, R"(,"id":"{}.{}")", record.stream, record.frame);
      identity(record);
      close();
    }
  }

  const Profile& profile_;
  OutputFile& file_;
  std::vector<StageGroup> groups_;
  Clock::time_point origin_;
  JsonBuffer out_;
  bool first_ = true;
};

}  // namespace

void write_trace(const Profile& profile, OutputFile& file) { TraceWriter(profile, file).write(); }

}  // namespace saccade
