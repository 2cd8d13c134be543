#include "ffmpeg/watch.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <vector>

namespace saccade {
namespace {

/// The existing watches: the embedding program may use FFmpeg itself, with an `opaque` of its own.
struct Watches {
  std::mutex mutex;
  std::vector<DecoderWatch*> alive;
};

Watches& watches() {
  static Watches all;
  return all;
}

}  // namespace

DecoderWatch::DecoderWatch() {
  Watches& all = watches();
  const std::scoped_lock lock(all.mutex);
  all.alive.push_back(this);
}

DecoderWatch::~DecoderWatch() {
  Watches& all = watches();
  const std::scoped_lock lock(all.mutex);
  std::erase(all.alive, this);
}

void DecoderWatch::attach(AVCodecContext& decoder) noexcept {
  decoder_ = &decoder;
  decoder.opaque = this;
  first_ = kNone;
  for (auto& number : complete_) number = -1;
}

void DecoderWatch::feed(AVCodecContext& decoder, std::int64_t packet) noexcept {
  fed_ = packet;
  decoder.reordered_opaque = packet;
}

/// Concealed errors are logged at a lower level than others, and success at the lowest.
DecoderWatch::Said DecoderWatch::meaning(int level, std::string_view format) noexcept {
  if (level <= AV_LOG_ERROR || (level <= AV_LOG_INFO && format.starts_with("concealing"))) return Said::kComplaint;
  return format.starts_with("Decoded frame with POC") ? Said::kComplete : Said::kNothing;
}

bool DecoderWatch::is_incomplete(const AVFrame& image) const noexcept {
  if (!tells_complete_ || image.reordered_opaque < 0) return false;
  const auto number = static_cast<std::size_t>(image.reordered_opaque);
  return complete_[number % complete_.size()] != image.reordered_opaque;
}

void DecoderWatch::note(const AVCodecContext& decoder, Said said) noexcept {
  // A thread's copy keeps the number of the packet that it decodes; the decoder's own is changed by us meanwhile.
  const std::int64_t packet = &decoder == decoder_ ? fed_.load() : decoder.reordered_opaque;
  if (said == Said::kComplete) {
    tells_complete_ = true;
    complete_[static_cast<std::size_t>(packet) % complete_.size()] = packet;
    return;
  }
  std::int64_t first = first_;
  while (packet < first && !first_.compare_exchange_weak(first, packet)) {
  }
}

void DecoderWatch::hear(void* context, int level, const char* format) noexcept {
  if (context == nullptr) return;
  const Said said = meaning(level, format);
  if (said == Said::kNothing || *static_cast<const AVClass* const*>(context) != avcodec_get_class()) return;
  const auto* decoder = static_cast<const AVCodecContext*>(context);
  Watches& all = watches();
  const std::scoped_lock lock(all.mutex);
  const auto found = std::find(all.alive.begin(), all.alive.end(), decoder->opaque);
  if (found != all.alive.end()) (*found)->note(*decoder, said);
}

}  // namespace saccade
