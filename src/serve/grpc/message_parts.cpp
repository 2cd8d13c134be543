#include "grpc/message_parts.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <span>

namespace saccade::serve {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

/// A message within a message: its number there, and those within it.
struct Nested {
  int number;
  std::span<const Nested> within;
};

// As in grpc_predict_v2.proto.
constexpr Nested kInInput[] = {{.number = 4, .within = {}}, {.number = 5, .within = {}}};  // parameters, contents
constexpr Nested kInOutput[] = {{.number = 2, .within = {}}};                              // parameters
constexpr Nested kInRequest[] = {
    {.number = 4, .within = {}}, {.number = 5, .within = kInInput}, {.number = 6, .within = kInOutput}};

class Counter {
 public:
  explicit Counter(CodedInputStream& message) : message_(message) {}

  /// Counts the parts of a message with messages WITHIN it. False: there are too many.
  bool count(std::span<const Nested> within) {
    while (const std::uint32_t tag = message_.ReadTag()) {
      if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!WireFormatLite::SkipField(&message_, tag)) return true;
        continue;
      }
      if (++parts_ > kMostParts) return false;
      std::uint32_t bytes = 0;
      if (!message_.ReadVarint32(&bytes)) return true;
      const Nested* nested = find(within, WireFormatLite::GetTagFieldNumber(tag));
      if (nested == nullptr) {
        if (!message_.Skip(static_cast<int>(bytes))) return true;
        continue;
      }
      const CodedInputStream::Limit limit = message_.PushLimit(static_cast<int>(bytes));
      if (!count(nested->within)) return false;
      message_.PopLimit(limit);
    }
    return true;
  }

 private:
  static const Nested* find(std::span<const Nested> within, int number) {
    for (const Nested& each : within)
      if (each.number == number) return &each;
    return nullptr;
  }

  CodedInputStream& message_;
  std::size_t parts_ = 0;
};

}  // namespace

bool has_too_many_parts(const grpc::ByteBuffer& message) {
  // The reader takes a reference to the slices, and leaves the buffer as it is.
  grpc::ByteBuffer copy(message);
  grpc::ProtoBufferReader reader(&copy);
  CodedInputStream stream(&reader);
  return !Counter(stream).count(kInRequest);
}

}  // namespace saccade::serve
