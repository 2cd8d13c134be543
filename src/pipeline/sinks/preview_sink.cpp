#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/host_port.hpp"
#include "base/http_module.hpp"
#include "base/module.hpp"
#include "embedded/preview_page.hpp"
#include "media/modules.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "pipeline/sinks/preview_page.hpp"
#include "pipeline/sinks/preview_stream.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

constexpr std::string_view kBoundary = "frame";
// More than people see costs the models of files their time.
constexpr auto kShortestPause = std::chrono::milliseconds(40);
constexpr int kJpegQuality = 80;

/// Counts those who watch, up to a limit.
class Seats {
 public:
  explicit Seats(std::size_t count) : free_(static_cast<int>(count)) {}
  /// Null if all are taken; the object frees it.
  std::shared_ptr<void> take() {
    if (free_.fetch_sub(1) > 0) return {this, [](Seats* seats) { ++seats->free_; }};
    ++free_;
    return nullptr;
  }

 private:
  std::atomic<int> free_;
};

/// The images of a stream as the parts of multipart/x-mixed-replace.
class Mjpeg final : public HttpStream {
 public:
  Mjpeg(PreviewStream& stream, std::shared_ptr<void> seat)
      : seat_(std::move(seat)), stream_(stream), viewer_(stream), number_(stream.newest().number) {}

  bool next(std::string& bytes) override {
    constexpr auto kPatience = std::chrono::milliseconds(250);
    bytes.clear();
    const PreviewStream::Image image = stream_.wait_for(number_, kPatience);
    if (image.jpeg == nullptr) return !stream_.state().ended;
    number_ = image.number;
    fmt::format_to(std::back_inserter(bytes), "--{}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n",
                   kBoundary, image.jpeg->size());
    bytes.append(*image.jpeg).append("\r\n");
    return true;
  }

 private:
  std::shared_ptr<void> seat_;
  PreviewStream& stream_;
  PreviewStream::Viewer viewer_;
  std::int64_t number_;
};

HttpReply text_reply(int status, std::string text) {
  return {.status = status, .type = "text/plain; charset=utf-8", .body = std::move(text), .stream = nullptr};
}

HttpReply no_seat() { return text_reply(503, "the limit of viewers is reached\n"); }

/// The server that the sinks of all streams share.
class PreviewServer {
 public:
  PreviewServer(const PreviewOptions& options, std::vector<std::string> names)
      : names_(std::move(names)), summary_(options.summary), streams_(names_.size()), seats_(options.viewers) {
    constexpr std::size_t kForThePage = 4;
    HttpOptions http{.host = options.host,
                     .port = options.port,
                     .certificate = options.certificate,
                     .key = options.key,
                     .token = options.token};
    http.for_browsers = true;
    http.workers = options.viewers + kForThePage;
    server_ = module<HttpModule>("http").listen(http, routes());
    address_ =
        fmt::format("http{}://{}/", options.certificate.empty() ? "" : "s", host_port(options.host, server_->port()));
  }

  PreviewStream& stream(std::size_t index) { return streams_[index]; }
  const std::string& address() const { return address_; }

 private:
  std::vector<HttpRoute> routes() {
    std::vector<HttpRoute> routes;
    routes.push_back({.path = "/", .reply = [page = preview_page(names_)](const HttpRequest& /*request*/) {
                        return page_reply(page, embedded::preview_page_policy);
                      }});
    routes.push_back({.path = "/status.json", .reply = [this](const HttpRequest& /*request*/) { return status(); }});
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      routes.push_back({.path = fmt::format("/stream/{}.mjpg", i),
                        .reply = [this, i](const HttpRequest& /*request*/) { return live(streams_[i]); }});
      routes.push_back({.path = fmt::format("/stream/{}.jpg", i),
                        .reply = [this, i](const HttpRequest& /*request*/) { return next_image(streams_[i]); }});
    }
    return routes;
  }

  HttpReply status() const {
    std::vector<PreviewStream::State> states;
    for (const PreviewStream& stream : streams_) states.push_back(stream.state());
    const std::optional<Summary> summary = summary_ ? summary_() : std::nullopt;
    return {.type = "application/json", .body = preview_status(names_, states, summary), .stream = nullptr};
  }

  HttpReply live(PreviewStream& stream) {
    std::shared_ptr<void> seat = seats_.take();
    if (seat == nullptr) return no_seat();
    return {.type = fmt::format("multipart/x-mixed-replace; boundary={}", kBoundary),
            .body = {},
            .stream = std::make_shared<Mjpeg>(stream, std::move(seat))};
  }

  /// The next image; the newest one if none comes.
  HttpReply next_image(PreviewStream& stream) {
    constexpr auto kPatience = std::chrono::seconds(1);
    const std::shared_ptr<void> seat = seats_.take();
    if (seat == nullptr) return no_seat();
    const PreviewStream::Viewer viewer(stream);
    PreviewStream::Image image = stream.wait_for(stream.newest().number, kPatience);
    if (image.jpeg == nullptr) image = stream.newest();
    if (image.jpeg == nullptr) return text_reply(503, "there is no frame yet\n");
    return {.type = "image/jpeg", .body = *image.jpeg, .stream = nullptr};
  }

  std::vector<std::string> names_;
  std::function<std::optional<Summary>()> summary_;
  std::deque<PreviewStream> streams_;  ///< they do not move
  Seats seats_;
  std::string address_;
  std::unique_ptr<HttpServer> server_;  ///< last member: its threads use the others
};

/// Draws the frames of one source while someone watches.
class PreviewSink final : public NetworkSink {
 public:
  PreviewSink(std::shared_ptr<PreviewServer> server, std::size_t stream, std::size_t models)
      : server_(std::move(server)),
        shown_(server_->stream(stream)),
        address_(server_->address()),
        stream_(static_cast<int>(stream)),
        last_model_(static_cast<int>(models) - 1),
        images_(module<ImagesModule>("images")),
        drawn_(module<DrawModule>("draw"), [this](const DrawnFrame& drawn) { show(drawn); }) {}
  ~PreviewSink() override { shown_.end(); }
  PreviewSink(const PreviewSink&) = delete;
  PreviewSink& operator=(const PreviewSink&) = delete;

  const std::string& address() const override { return address_; }

  void write(const Result& result, const FrameView& frame) override {
    if (result.stream != stream_) return;
    if (result.frame != frame_) begin(result.frame);
    objects_ += result.detections.size();
    if (is_drawn_) drawn_.add(result, frame);
    if (result.model_index != last_model_) return;
    shown_.count(objects_, Clock::now(), result.latency.total);
    if (is_drawn_) drawn_.finish();
  }

  void close(const Summary& /*summary*/) override {
    drawn_.finish();
    shown_.end();
  }

 private:
  void begin(std::int64_t frame) {
    drawn_.finish();  // a model failed on the one before
    frame_ = frame;
    objects_ = 0;
    const Clock::time_point now = Clock::now();
    is_drawn_ = now >= next_ && shown_.is_watched();
    if (is_drawn_) next_ = now + kShortestPause;
  }

  void show(const DrawnFrame& drawn) {
    std::string jpeg;
    images_.encode_jpeg(drawn.view(), kJpegQuality, jpeg);
    shown_.show(std::move(jpeg));
  }

  std::shared_ptr<PreviewServer> server_;
  PreviewStream& shown_;
  std::string address_;
  int stream_;
  int last_model_;
  const ImagesModule& images_;
  std::int64_t frame_ = -1;
  std::size_t objects_ = 0;
  bool is_drawn_ = false;  ///< the current frame
  Clock::time_point next_;
  DrawnFrame drawn_;
};

}  // namespace

std::vector<std::unique_ptr<NetworkSink>> open_preview(const PreviewOptions& options, std::span<const Source> sources,
                                                       std::size_t models) {
  std::vector<std::string> names;
  for (const Source& source : sources) names.push_back(source.info().name);
  const auto server = std::make_shared<PreviewServer>(options, std::move(names));
  std::vector<std::unique_ptr<NetworkSink>> sinks;
  for (std::size_t i = 0; i < sources.size(); ++i) sinks.push_back(std::make_unique<PreviewSink>(server, i, models));
  return sinks;
}

}  // namespace saccade
