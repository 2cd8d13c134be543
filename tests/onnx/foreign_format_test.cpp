#include <fmt/format.h>

#include "import.hpp"

namespace saccade {
namespace {

using ForeignFormatTest = ImportTest;

TEST_F(ForeignFormatTest, ModelsOfOtherFormatsAreNamedWithTheirConversion) {
  const auto error = [&](const std::string& name, std::string_view contents) {
    write(name, std::string(contents));
    return error_of(file(name));
  };
  const auto expect = [&](const std::string& name, std::string_view contents, std::string_view format,
                          std::string_view remedy) {
    const std::string text = error(name, contents);
    EXPECT_NE(text.find(fmt::format("is {}, not an ONNX file; ", format)), std::string::npos) << text;
    EXPECT_NE(text.find(remedy), std::string::npos) << text;
  };
  using namespace std::string_view_literals;
  const std::string_view junk = "\x0a\x03xyz\x0a\x0a\x0a\x0a\x0a\x0a";
  // The contents decide, whatever the name.
  expect("m.onnx", "PK\x03\x04\x00\x00\x08\x08yolo/data.pkl"sv, "a PyTorch checkpoint", "format=onnx");
  expect("m.onnx", "ftrt\x01\x02\x03\x04", "a TensorRT engine", "saccade compile ");
  expect("m.onnx", "\x1c\0\0\0TFL3\x14\0"sv, "a TensorFlow Lite model", "--tflite ");
  expect("m.onnx", "\x89HDF\r\n\x1a\n\0\0"sv, "a Keras model in HDF5", "--keras ");
  expect("m.onnx", "\x20\0\0\0\0\0\0\0{\"a\":{}}"sv, "a file of weights (safetensors) without a graph", "optimum-cli");
  expect("m.onnx", "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">", "an OpenVINO model", "format=onnx");
  expect("m.onnx", "7767517\n75 83\n", "an ncnn model", "format=onnx");
  // Else the extension does.
  for (const char* name : {"m.pt", "m.PTH"}) expect(name, junk, "a PyTorch checkpoint", "torch.onnx.export");
  expect("m.engine", junk, "a TensorRT engine", "m.plan");
  expect("m.plan", junk, "a TensorRT engine or a damaged plan", "saccade compile ");
  expect("m.keras", junk, "a Keras model", "m.onnx', format='onnx'");
  expect("m.pb", junk, "a TensorFlow graph", "--graphdef ");
  expect("m.bin", junk, "an ncnn model", "format=onnx");
  // Neither says more than the contents of a damaged ONNX file.
  EXPECT_EQ(error("n.pb", "\x08\x08\x12\x7f"),
            "n.pb: is a damaged or truncated ONNX file; export or download it again");
}

TEST_F(ForeignFormatTest, FoldersOfOtherFormatsAreNamed) {
  std::filesystem::create_directory(file("m.mlpackage"));
  EXPECT_NE(error_of(file("m.mlpackage")).find("is a Core ML model"), std::string::npos);
  std::filesystem::create_directory(file("saved"));
  write("saved/saved_model.pb", "x");
  EXPECT_NE(error_of(file("saved")).find("--saved-model "), std::string::npos);
}

}  // namespace
}  // namespace saccade
