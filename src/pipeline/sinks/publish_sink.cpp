#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/module.hpp"
#include "media/frame_reader.hpp"
#include "media/network/uri.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

constexpr double kUnknownRate = 30;  // a hint for the encoder; frames have their timestamps

/// Publishes the drawn frames of one source. After an error, the next frame connects again.
class PublishSink final : public NetworkSink {
 public:
  PublishSink(const std::string& url, std::string address, std::size_t stream, std::size_t models, double rate)
      : url_(url),
        address_(std::move(address)),
        stream_(static_cast<int>(stream)),
        last_model_(static_cast<int>(models) - 1),
        rate_(rate > 0 ? rate : kUnknownRate),
        drawn_(module<DrawModule>("draw"), [this](const DrawnFrame& drawn) { publish(drawn); }) {
    open_publisher(url_, rate_);  // refuses what is no address
  }

  const std::string& address() const override { return address_; }

  void write(const Result& result, const FrameView& frame) override {
    if (result.stream != stream_) return;
    drawn_.add(result, frame);
    // Whoever watches does not wait for the next frame.
    if (result.model_index == last_model_) drawn_.finish();
  }

  void close(const Summary& /*summary*/) override {
    drawn_.finish();
    if (writer_ != nullptr) writer_->close();
  }

 private:
  void publish(const DrawnFrame& drawn) {
    const RgbView view = drawn.view();
    if (writer_ != nullptr && (view.width != width_ || view.height != height_)) {
      writer_->close();
      writer_.reset();
    }
    if (writer_ == nullptr) {
      writer_ = open_publisher(url_, rate_);
      width_ = view.width;
      height_ = view.height;
    }
    try {
      writer_->write(view_of(view), drawn.timestamp_ns());
    } catch (const Error&) {
      writer_.reset();
      throw;
    }
  }

  std::string url_;
  std::string address_;
  int stream_;
  int last_model_;
  double rate_;
  std::unique_ptr<VideoWriter> writer_;  ///< null: not connected
  int width_ = 0;                        ///< of its frames
  int height_ = 0;
  DrawnFrame drawn_;
};

/// URL with the index STREAM for each "{stream}".
std::string url_for(std::string url, std::size_t stream) {
  constexpr std::string_view kPlace = "{stream}";
  for (std::size_t at = url.find(kPlace); at != std::string::npos; at = url.find(kPlace))
    url.replace(at, kPlace.size(), std::to_string(stream));
  return url;
}

}  // namespace

std::unique_ptr<NetworkSink> open_publish(const std::string& url, std::size_t stream, std::span<const Source> sources,
                                          std::size_t models) {
  const std::string name = network::publish_name(url);
  if (!is_network(url))
    fail(ErrorCode::kInvalidArgument,
         "'{}' can't be published to: expected rtsp://HOST/PATH, rtmp://HOST/PATH or srt://HOST:PORT",
         network::redact(url));
  const SourceInfo& source = sources[stream].info();
  const std::string own = url_for(url, stream);
  if (sources.size() > 1 && own == url)
    fail(ErrorCode::kInvalidArgument, "{}: there are {} sources: write {{stream}} where the address has their index",
         name, sources.size());
  if (!source.live)
    fail(ErrorCode::kInvalidArgument,
         "{}: {} is not live, and would be published as fast as it is read: pass --realtime", name, source.name);
  // What has the index is no stream key.
  return std::make_unique<PublishSink>(own, own == url ? name : network::source_name(own), stream, models,
                                       source.frame_rate);
}

}  // namespace saccade
