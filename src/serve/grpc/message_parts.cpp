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

/// A message within a message: its number there, those within it, and the numbers of its repeated numbers, which take
/// no more memory than in the message.
struct Nested {
  int number = 0;
  std::span<const Nested> within = {};
  int first_repeated = 0;
  int last_repeated = -1;

  bool is_repeated(int field) const { return field >= first_repeated && field <= last_repeated; }
};

// As in grpc_predict_v2.proto.
constexpr Nested kInParameters[] = {{.number = 2}};  // the value
constexpr Nested kInInput[] = {{.number = 4, .within = kInParameters},
                               {.number = 5, .first_repeated = 1, .last_repeated = 7}};  // contents
constexpr Nested kInOutput[] = {{.number = 2, .within = kInParameters}};
constexpr Nested kInRequest[] = {{.number = 4, .within = kInParameters},
                                 {.number = 5, .within = kInInput, .first_repeated = 3, .last_repeated = 3},  // shape
                                 {.number = 6, .within = kInOutput}};
constexpr Nested kRequest{.within = kInRequest};

class Counter {
 public:
  explicit Counter(CodedInputStream& message) : message_(message) {}

  /// Counts the parts of MESSAGE. False: there are too many.
  bool count(const Nested& message) {
    while (const std::uint32_t tag = message_.ReadTag()) {
      const int number = WireFormatLite::GetTagFieldNumber(tag);
      const WireFormatLite::WireType type = WireFormatLite::GetTagWireType(tag);
      // The protocol has none, and the library keeps all that is in them.
      if (type == WireFormatLite::WIRETYPE_START_GROUP) return false;
      if (type != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!message.is_repeated(number) && ++parts_ > kMostParts) return false;
        if (!WireFormatLite::SkipField(&message_, tag)) return true;
        continue;
      }
      if (++parts_ > kMostParts) return false;
      std::uint32_t bytes = 0;
      if (!message_.ReadVarint32(&bytes)) return true;
      const Nested* nested = find(message.within, number);
      if (nested == nullptr) {
        if (!message_.Skip(static_cast<int>(bytes))) return true;
        continue;
      }
      const CodedInputStream::Limit limit = message_.PushLimit(static_cast<int>(bytes));
      if (!count(*nested)) return false;
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
  return !Counter(stream).count(kRequest);
}

}  // namespace saccade::serve
