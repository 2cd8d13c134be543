#include "serve/memory_regions.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/error.hpp"
#include "serve/region_inputs.hpp"

namespace saccade::serve {
namespace {

using testing::HasSubstr;

/// A shared memory object of the letters from 'a' on.
class SharedObject {
 public:
  explicit SharedObject(const std::string& what, std::size_t bytes = 26) : name_(prefix() + what) {
    const int file = shm_open(name_.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    std::string letters;
    for (std::size_t i = 0; i < bytes; ++i) letters += static_cast<char>('a' + i % 26);
    EXPECT_EQ(write(file, letters.data(), bytes), static_cast<ssize_t>(bytes));
    close(file);
  }
  ~SharedObject() { remove(); }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  static std::string prefix() { return "saccade-regions-" + std::to_string(getpid()) + "-"; }
  const std::string& key() const { return name_; }
  void resize(off_t bytes) const { EXPECT_EQ(truncate(("/dev/shm/" + name_).c_str(), bytes), 0); }
  void remove() const { shm_unlink(name_.c_str()); }
  std::string content() const {
    std::array<char, 100> bytes{};
    const int file = shm_open(name_.c_str(), O_RDONLY | O_CLOEXEC, 0);
    const ssize_t count = read(file, bytes.data(), bytes.size());
    close(file);
    return {bytes.data(), static_cast<std::size_t>(count)};
  }

 private:
  std::string name_;
};

std::string read_text(const MemoryRegion& region, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, ' ');
  region.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

void write_text(const RegionTensor& to, std::string text) {
  const auto size = static_cast<std::int64_t>(text.size());
  write_output(to, "y", {.data = text.data(), .bytes = text.size(), .dtype = DType::kUInt8, .shape = {size}});
}

class MemoryRegionsTest : public testing::Test {
 protected:
  RegionTensor find(const std::string& name, std::uint64_t bytes, std::uint64_t offset = 0) {
    return *regions_.find({name, bytes, offset}, "x");
  }
  /// Calls WORK, which is refused with a sentence that has TEXT.
  template <typename Work>
  static void refused(const Work& work, const std::string& text) {
    try {
      work();
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }

  MemoryRegions regions_{{.prefix = SharedObject::prefix(), .most_bytes = 100}};
  SharedObject object_{"object"};
};

TEST_F(MemoryRegionsTest, AreReadAndWritten) {
  regions_.add({"a", "/" + object_.key(), 2, 10});
  const RegionTensor tensor = find("a", 4, 3);
  EXPECT_EQ(read_text(*tensor.region, tensor.offset, 4), "fghi");
  write_text(tensor, "XY");
  EXPECT_EQ(object_.content(), "abcdeXYhijklmnopqrstuvwxyz");
  refused([&] { write_text(tensor, "12345"); }, "of 'y' is 4, and the output has 5 bytes");
}

TEST_F(MemoryRegionsTest, KeepWithinTheirBounds) {
  regions_.add({"a", object_.key(), 2, 10});
  EXPECT_EQ(find("a", 0, 10).bytes, 0U);
  refused([&] { find("a", 11); }, "11 bytes at offset 0 of the region 'a', which has 10 bytes");
  refused([&] { find("a", 1, 10); }, "at offset 10");
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  refused([&] { find("a", kMost, 2); }, "at offset 2");
  refused([&] { find("a", 2, kMost); }, "2 bytes at offset");
  refused([&] { regions_.add({"b", object_.key(), kMost, 2}); }, "the shared memory object");
  refused([&] { regions_.add({"b", object_.key(), 2, kMost}); }, "the shared memory object");
  refused([&] { regions_.find({"a", std::nullopt, std::nullopt}, "x"); }, "shared_memory_byte_size is missing");
  refused([&] { regions_.find({std::nullopt, std::nullopt, 0}, "x"); }, "shared_memory_region is missing");
  EXPECT_FALSE(regions_.find({}, "x"));
}

TEST_F(MemoryRegionsTest, OutputsAreWrittenApart) {
  struct Output {
    std::size_t index;
    std::optional<RegionTensor> region;
  };
  regions_.add({"a", object_.key(), 0, 20});
  regions_.add({"b", object_.key(), 0, 20});
  const std::vector<TensorInfo> infos = {{"y", DType::kUInt8, Shape{4}}, {"z", DType::kUInt8, Shape{4}}};
  const Signature model{.name = "m", .inputs = infos, .outputs = infos};
  const auto check = [&](std::optional<RegionTensor> first, std::optional<RegionTensor> second) {
    check_apart(model, std::vector<Output>{{0, std::move(first)}, {1, std::move(second)}});
  };
  check(find("a", 4, 0), find("a", 4, 4));
  check(find("a", 4, 4), find("a", 4, 0));
  check(find("a", 4, 0), find("b", 4, 0));
  check(find("a", 4, 0), std::nullopt);
  check(std::nullopt, std::nullopt);
  refused([&] { check(find("a", 4, 0), find("a", 4, 3)); }, "'y' and 'z' overlap in the region 'a'");
  refused([&] { check(find("a", 4, 3), find("a", 4, 0)); }, "overlap");
}

TEST_F(MemoryRegionsTest, WhatIsRemovedIsKeptByThoseWhoUseIt) {
  regions_.add({"a", object_.key(), 0, 26});
  const RegionTensor used = find("a", 26);
  regions_.remove(RegionKind::kSystem, "a");
  refused([&] { find("a", 1); }, "no shared memory region 'a'");
  EXPECT_EQ(read_text(*used.region, 0, 3), "abc");
}

TEST_F(MemoryRegionsTest, AnObjectThatShrinksIsRefused) {
  regions_.add({"a", object_.key(), 2, 10});
  const RegionTensor tensor = find("a", 10);
  object_.resize(11);
  refused([&] { read_text(*tensor.region, 0, 10); }, "has shrunk");
  refused([&] { write_text(tensor, "X"); }, "has shrunk");
  EXPECT_EQ(object_.content(), "abcdefghijk");
  object_.resize(26);
  EXPECT_EQ(read_text(*tensor.region, 8, 2), std::string("k\0", 2));
  object_.remove();
  refused([&] { read_text(*tensor.region, 0, 10); }, "was removed");
  refused([&] { write_text(tensor, "X"); }, "was removed");
}

TEST_F(MemoryRegionsTest, AnObjectThatShrinksWhileItIsReadHarmsNoOne) {
  constexpr std::size_t kBytes = 1 << 20;
  const SharedObject large("large", kBytes);
  regions_.add({"a", large.key(), 0, kBytes});
  const RegionTensor tensor = find("a", kBytes);
  std::thread owner([&] {
    for (int i = 0; i < 200; ++i) large.resize(i % 2 == 0 ? 0 : kBytes);
  });
  std::string text(kBytes, ' ');
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      tensor.region->read(0, std::as_writable_bytes(std::span(text)));
      write_text(tensor, text);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("has shrunk"));
      ++refused;
    }
  }
  owner.join();
  EXPECT_LE(refused, 200);
}

TEST_F(MemoryRegionsTest, InputsAreCopiedWithinABound) {
  regions_.add({"a", object_.key(), 0, 26});
  const TensorInfo info{"x", DType::kUInt8, Shape{20}};
  std::array<InputBuffer, 2> buffers{};
  std::vector<RegionInputs> all(6);
  for (RegionInputs& inputs : all) inputs.add(1, info, find("a", 20, 2));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(all[i].read({}, regions_, buffers));
  EXPECT_EQ(buffers[0].data, nullptr);
  EXPECT_EQ(std::string(static_cast<const char*>(buffers[1].data), 3), "cde");
  EXPECT_FALSE(all[5].read({}, regions_, buffers)) << "100 bytes are copied";
  all[0] = RegionInputs();
  EXPECT_TRUE(all[5].read({}, regions_, buffers));
  refused([&] { all[0].add(1, info, find("a", 19)); }, "of 'x' is 20, not 19");
}

TEST_F(MemoryRegionsTest, NoneCanBeUsedWithoutAPrefix) {
  MemoryRegions off;
  EXPECT_FALSE(off.permits(RegionKind::kSystem));
  refused([&] { off.add({"a", object_.key(), 0, 1}); }, "without --shared-memory");
  refused([&] { off.remove(RegionKind::kSystem, ""); }, "without --shared-memory");
  refused([&] { off.list(RegionKind::kSystem, ""); }, "without --shared-memory");
  refused([&] { off.find({"a", 1, 0}, "x"); }, "without --shared-memory");
  EXPECT_FALSE(off.find({}, "x"));
}

}  // namespace
}  // namespace saccade::serve
