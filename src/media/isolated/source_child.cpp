#include "media/isolated/source_child.hpp"

#include "base/log.hpp"

namespace saccade::isolated {

void SourceChild::open(const SourceSpec& spec) {
  word_in(at_) = -1;
  channel()->send(Open{.images = static_cast<std::uint32_t>(spec.images.size()),
                       .decode_threads = spec.options.decode_threads,
                       .model_width = spec.options.model_width,
                       .model_height = spec.options.model_height,
                       .wait = spec.options.wait ? 1U : 0U,
                       .log_level = static_cast<std::uint32_t>(log_level())},
                  spec.uri, at_.descriptor());
  for (std::uint32_t i = 0; i < spec.images.size(); ++i) channel()->send(File{.index = i}, spec.images[i]);
  phase_ = Phase::kOpening;
}

bool SourceChild::handle(const Packet& packet, SourceInfo* info) {
  switch (packet.header.kind) {
    case Kind::kLog: {
      const ReceivedLog received = read_log(packet);
      log(received.level, "{}", received.line);
      return true;
    }
    case Kind::kHello: {
      if (phase_ != Phase::kOpening) throw BadMessage("the source was opened already");
      ReceivedHello hello = read_hello(packet);
      names_ = hello.files;
      names_read_ = 0;
      if (info != nullptr) *info = std::move(hello.info);
      phase_ = names_ > 0 ? Phase::kNames : Phase::kOpen;
      return true;
    }
    case Kind::kName: {
      if (phase_ != Phase::kNames) throw BadMessage("an image is unexpected");
      const std::string_view name = read_name(packet, names_read_);
      if (info != nullptr) info->files.emplace_back(name);
      if (++names_read_ == names_) phase_ = Phase::kOpen;
      return true;
    }
    default: return false;
  }
}

void SourceChild::start(const Restarts& restarts) {
  for (const std::int64_t number : restarts.skipped()) channel()->send(Skip{.number = number});
  channel()->send(Start{.delivered = restarts.delivered()});
  phase_ = Phase::kReading;
}

std::int64_t SourceChild::at() const { return word_in(at_); }

}  // namespace saccade::isolated
