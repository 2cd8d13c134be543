#include "saccade/npy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "saccade/error.hpp"

namespace saccade {
namespace {

class Npy : public testing::Test {
 protected:
  ~Npy() override { std::filesystem::remove(path_); }

  void write(std::string_view header, std::string_view elements, char version = 1) {
    std::ofstream file(path_, std::ios::binary);
    file << "\x93NUMPY" << version << '\0' << static_cast<char>(header.size() & 255U)
         << static_cast<char>(header.size() >> 8U);
    if (version > 1) file << '\0' << '\0';
    file << header << elements;
  }

  void write_raw(std::string_view bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string error_of_load() {
    try {
      load_npy(path_);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::string path_ = testing::TempDir() + "npy_test_" + std::to_string(getpid()) + ".npy";
};

TEST_F(Npy, RoundTrip) {
  save_npy(path_, Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Tensor back = load_npy(path_);
  EXPECT_EQ(back.shape(), (Shape{2, 3}));
  EXPECT_EQ(back.data<float>()[4], 5);
  EXPECT_EQ(std::filesystem::file_size(path_) % 64, 24U);
}

TEST_F(Npy, ScalarsVectorsAndEmptyTensorsRoundTrip) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{3, 0, 2}}) {
    save_npy(path_, Tensor(DType::kInt64, shape));
    EXPECT_EQ(load_npy(path_).shape(), shape) << shape.to_string();
  }
}

TEST_F(Npy, EveryTypeRoundTrips) {
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kFloat64, DType::kInt8, DType::kUInt8, DType::kInt16,
                      DType::kUInt16, DType::kInt32, DType::kUInt32, DType::kInt64, DType::kUInt64, DType::kBool,
                      DType::kComplex64, DType::kComplex128}) {
    Tensor tensor(dtype, {2});
    std::fill_n(tensor.raw(), tensor.bytes(), std::byte{1});
    save_npy(path_, tensor);
    const Tensor back = load_npy(path_);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_TRUE(std::equal(back.raw(), back.raw() + back.bytes(), tensor.raw()));
  }
}

TEST_F(Npy, BFloat16IsWrittenAsFloat32) {
  Tensor tensor(DType::kBFloat16, {1});
  const std::uint16_t one_and_a_half = 0x3FC0;
  std::memcpy(tensor.raw(), &one_and_a_half, 2);
  save_npy(path_, tensor);
  EXPECT_EQ(load_npy(path_).data<float>()[0], 1.5F);
}

TEST_F(Npy, ReadsFortranOrder) {
  write("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "adbecf");
  const Tensor tensor = load_npy(path_);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(tensor.raw()), 6), "abcdef");
}

TEST_F(Npy, ReadsBigEndianAndVersion2) {
  write("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", std::string_view("\x01\x02\x00\x03", 4), 2);
  const Tensor tensor = load_npy(path_);
  EXPECT_EQ(tensor.data<std::int16_t>()[0], 258);
  EXPECT_EQ(tensor.data<std::int16_t>()[1], 3);
}

TEST_F(Npy, RefusesWhatIsDamaged) {
  write_raw("hello");
  EXPECT_NE(error_of_load().find("not a .npy file"), std::string::npos) << error_of_load();
  write_raw("");
  EXPECT_NE(error_of_load().find("not a .npy file"), std::string::npos);
  write_raw(std::string_view("\x93NUMPY\x01\x00\xff\x00{", 11));
  EXPECT_NE(error_of_load().find("truncated"), std::string::npos);
  write_raw(std::string_view("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12));
  EXPECT_NE(error_of_load().find("declares 4294967295 bytes"), std::string::npos);
  for (std::string_view header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2", "{'descr",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"}) {
    write(header, "");
    EXPECT_NE(error_of_load().find("header is damaged"), std::string::npos) << header;
  }
}

TEST_F(Npy, RefusesElementsThatAreNotThere) {
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "1234567");
  EXPECT_NE(error_of_load().find("has 7 bytes of elements, but its header declares 8"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "");
  EXPECT_NE(error_of_load().find("too large"), std::string::npos) << error_of_load();
}

TEST_F(Npy, RefusesWhatItCannotHold) {
  write("{'descr': '<U5', 'fortran_order': False, 'shape': (2,)}", "");
  EXPECT_NE(error_of_load().find("element type '<U5' is not supported"), std::string::npos);
  write("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "");
  EXPECT_NE(error_of_load().find("records"), std::string::npos);
  EXPECT_THROW(save_npy(path_, Tensor(DType::kString, {1})), Error);
}

TEST_F(Npy, NamesAFileThatIsNotThere) {
  try {
    load_npy("/nowhere/a.npy");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_STREQ(error.what(), "/nowhere/a.npy: no such file");
  }
  EXPECT_THROW(save_npy("/nowhere/a.npy", Tensor::scalar(1.0F)), Error);
}

}  // namespace
}  // namespace saccade
