#include "import.hpp"

namespace saccade {
namespace {

using onnx_writer::Message;
using onnx_writer::Model;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr int kMany = 200'000;

/// COUNT empty fields of that number, two bytes each.
Message empty_fields(int number, int count) {
  Message fields;
  for (int i = 0; i < count; ++i) fields.text(number, "");
  return fields;
}

class ParsedSize : public ImportTest {
 protected:
  /// The error of reading a model that begins with START within 10 MiB.
  std::string error_behind(const Message& start) const {
    write("model.onnx", Model(13).input("x", {1}).output("x").bytes() + start.bytes());
    return error_of(file("model.onnx"), {.max_memory = 10 * kMegabyte});
  }
};

TEST_F(ParsedSize, EmptyMessagesOfTwoBytesCountWithWhatTheyTakeInMemory) {
  constexpr const char* kTooMuch = "model.onnx: it needs 1";
  const auto graph = [](const Message& fields) { return Message().message(7, fields); };
  const auto node = [&](const Message& fields) { return graph(Message().message(1, fields)); };
  const auto tensor = [&](const Message& fields) { return graph(Message().message(5, fields)); };

  for (const Message& start : {
           empty_fields(8, kMany),                                                    // operator sets
           graph(empty_fields(1, kMany)),                                             // nodes
           node(empty_fields(1, kMany)),                                              // their inputs' names
           node(empty_fields(5, kMany)),                                              // their attributes
           node(Message().message(5, Message().message(6, empty_fields(1, kMany)))),  // a sub-graph's nodes
           graph(empty_fields(5, kMany)),                                             // initializers
           graph(empty_fields(14, kMany)),                                            // annotations
           graph(Message().message(
               11, Message().message(
                       2, Message().message(1, Message().message(2, empty_fields(1, kMany)))))),  // dimensions
           tensor(Message().text(7, std::string(4 * kMany, '\1'))),  // 64-bit numbers of one byte each
           empty_fields(1000, kMany),                                // unknown in all versions of ONNX
       })
    EXPECT_TRUE(error_behind(start).starts_with(kTooMuch)) << error_behind(start);
}

TEST_F(ParsedSize, AnUnknownGroupIsCounted) {
  // Field 7 is the graph in a model, but unknown in a group: an unterminated number there does not end the count.
  const std::string group = "\xA3\x06\x3A\x01\xFF\xA4\x06";
  write("model.onnx",
        group + Model(13).input("x", {1}).output("x").bytes() + Message().message(7, empty_fields(1, kMany)).bytes());

  EXPECT_TRUE(error_of(file("model.onnx"), {.max_memory = 10 * kMegabyte}).starts_with("model.onnx: it needs"));
}

TEST_F(ParsedSize, OrdinaryModelsTakeLittleMoreThanTheirFile) {
  Model model(13);
  model.output("w").initializer(onnx_writer::raw_tensor("w", onnx_writer::kUInt8, {kMany}, std::string(kMany, '\7')));

  EXPECT_EQ(error_of(model, {.max_memory = kMany + 4096}), "");
  EXPECT_TRUE(error_of(model, {.max_memory = kMany}).starts_with("model.onnx: it needs 19"));
}

TEST_F(ParsedSize, AFileOfOneTensorIsCountedFirst) {
  const auto error_within = [&](const Message& tensor, std::size_t max_memory) -> std::string {
    write("input_0.pb", tensor.bytes());
    try {
      module<OnnxModule>("onnx").read_tensor(file("input_0.pb"), max_memory);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const Message numbers = onnx_writer::tensor_head("t", onnx_writer::kInt64, {4 * kMany});
  const std::string path = file("input_0.pb").string();

  for (const Message& tensor :
       {Message(numbers).text(7, std::string(4 * kMany, '\1')), Message(numbers).message(13, empty_fields(1, kMany)),
        Message(numbers).text(1000, std::string(20 * kMegabyte, '\0'))})
    EXPECT_TRUE(error_within(tensor, 10 * kMegabyte).starts_with(path + ": it needs ")) << error_within(tensor, 0);
  EXPECT_EQ(error_within(Message(numbers).text(7, std::string(4 * kMany, '\1')), 64 * kMegabyte), "");
}

}  // namespace
}  // namespace saccade
