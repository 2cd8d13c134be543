#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/module.hpp"
#include "media/show_module.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

// A screen shows no more.
constexpr auto kScreenPeriod = std::chrono::milliseconds(16);

/// A window and its thread, which is the only one that uses it.
class ShownWindow {
 public:
  /// Waits until the window is open. Throws Error.
  ShownWindow(std::string title, std::size_t panes, std::function<void()> close)
      : title_(std::move(title)), close_(std::move(close)), slots_(panes) {
    thread_ = std::thread([this] { run(); });
    try {
      opened_.get_future().get();
    } catch (...) {
      thread_.join();
      throw;
    }
  }
  ~ShownWindow() {
    ends_ = true;
    thread_.join();
  }
  ShownWindow(const ShownWindow&) = delete;
  ShownWindow& operator=(const ShownWindow&) = delete;

  /// Whether a person holds the image.
  bool is_held() const { return is_held_; }

  /// IMAGE replaces one of PANE that the window has yet to show.
  void put(std::size_t pane, const RgbView& image) {
    const std::scoped_lock lock(mutex_);
    Slot& slot = slots_[pane];
    const std::size_t bytes = static_cast<std::size_t>(image.pitch_bytes) * static_cast<std::size_t>(image.height);
    slot.pixels.assign(image.data, image.data + bytes);
    slot.view = image;
    slot.is_new = true;
  }

 private:
  struct Slot {
    std::vector<std::uint8_t> pixels;
    RgbView view;  ///< its data is that of the pixels only in the window's copy
    bool is_new = false;
  };

  void run() {
    pthread_setname_np(pthread_self(), "saccade-window");
    std::unique_ptr<VideoWindow> window;
    try {
      window = module<ShowModule>("show").open(title_, slots_.size());
    } catch (...) {
      opened_.set_exception(std::current_exception());
      return;
    }
    opened_.set_value();
    while (!ends_) {
      if (!is_held_) show_new(*window);
      const WindowWish wish = window->serve(kScreenPeriod);
      if (wish.hold) {
        is_held_ = !is_held_;
        window->set_title(is_held_ ? title_ + " (held)" : title_);
      }
      if (wish.close) close_();
    }
  }

  void show_new(VideoWindow& window) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      {
        const std::scoped_lock lock(mutex_);
        if (!slots_[i].is_new) continue;
        slots_[i].is_new = false;
        std::swap(shown_, slots_[i]);
      }
      shown_.view.data = shown_.pixels.data();
      window.put(i, shown_.view);
    }
  }

  std::string title_;
  std::function<void()> close_;
  std::promise<void> opened_;
  std::mutex mutex_;  ///< of the slots
  std::vector<Slot> slots_;
  Slot shown_;  ///< of the thread
  std::atomic<bool> is_held_ = false;
  std::atomic<bool> ends_ = false;
  std::thread thread_;  ///< last member: it uses the others
};

class ShowSink final : public Sink {
 public:
  ShowSink(std::shared_ptr<ShownWindow> window, std::size_t stream, std::size_t models)
      : window_(std::move(window)),
        stream_(stream),
        last_model_(static_cast<int>(models) - 1),
        drawn_(module<DrawModule>("draw"), [this](const DrawnFrame& drawn) { window_->put(stream_, drawn.view()); }) {}

  void write(const Result& result, const FrameView& frame) override {
    if (result.stream != static_cast<int>(stream_)) return;
    if (result.frame != frame_) begin(result.frame);
    if (!is_drawn_) return;
    drawn_.add(result, frame);
    if (result.model_index == last_model_) drawn_.finish();
  }

  void close(const Summary& /*summary*/) override { drawn_.finish(); }

 private:
  void begin(std::int64_t frame) {
    drawn_.finish();  // a model failed on the one before
    frame_ = frame;
    const Clock::time_point now = Clock::now();
    is_drawn_ = now >= next_ && !window_->is_held();
    if (is_drawn_) next_ = now + kScreenPeriod;
  }

  std::shared_ptr<ShownWindow> window_;
  std::size_t stream_;
  int last_model_;
  std::int64_t frame_ = -1;
  bool is_drawn_ = false;  ///< the current frame
  Clock::time_point next_;
  DrawnFrame drawn_;
};

}  // namespace

std::vector<std::unique_ptr<Sink>> open_show(std::span<const Source> sources, std::size_t models,
                                             std::function<void()> close) {
  std::string title = sources.size() == 1 ? sources.front().info().name : fmt::format("{} streams", sources.size());
  const auto window = std::make_shared<ShownWindow>("Saccade: " + title, sources.size(), std::move(close));
  std::vector<std::unique_ptr<Sink>> sinks;
  for (std::size_t i = 0; i < sources.size(); ++i) sinks.push_back(std::make_unique<ShowSink>(window, i, models));
  return sinks;
}

}  // namespace saccade
