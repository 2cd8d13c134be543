#include "base/elf.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace saccade {
namespace {

/// An ELF file with an empty section and one of four bytes.
std::string small_image() {
  std::string image(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Shdr) + 4, '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  std::memcpy(image.data(), &header, sizeof header);
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = image.size() - 4;
  section.sh_size = 4;
  std::memcpy(image.data() + sizeof header + sizeof section, &section, sizeof section);
  return image;
}

TEST(WholeElf, LiesWithinItsBytes) {
  const std::string whole = small_image();
  EXPECT_TRUE(is_whole_elf(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(is_whole_elf(whole.substr(0, length))) << length;
  // Every 16-bit field set to the largest number: offsets and counts must be validated.
  for (std::size_t place :
       {offsetof(Elf64_Ehdr, e_shnum), offsetof(Elf64_Ehdr, e_phnum), offsetof(Elf64_Ehdr, e_shentsize),
        offsetof(Elf64_Ehdr, e_shstrndx), offsetof(Elf64_Ehdr, e_shoff) + 6,
        sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_offset) + 6,
        sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size) + 6}) {
    std::string lie = whole;
    lie[place] = lie[place + 1] = '\xFF';
    EXPECT_FALSE(is_whole_elf(lie)) << place;
  }
}

TEST(BuildId, IsThatOfTheObject) {
  const std::string own = build_id(reinterpret_cast<const void*>(&small_image));
  const std::string library = build_id(reinterpret_cast<const void*>(&is_whole_elf));
  EXPECT_NE(own, library);
  EXPECT_TRUE(own.empty() || own.find_first_not_of("0123456789abcdef") == std::string::npos) << own;
  EXPECT_EQ(build_id(nullptr), "");
}

}  // namespace
}  // namespace saccade
