#include "base/elf.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace saccade {
namespace {

/// Whether COUNT entries of EACH bytes at OFFSET lie within ALL bytes.
bool lies_within(std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::size_t all) {
  return count == 0 || (offset <= all && count * each <= all - offset);  // both factors have 16 bits
}

}  // namespace

bool is_whole_elf(std::string_view file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return false;
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  if ((header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) ||
      (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)))
    return false;
  if (header.e_shnum == 0 || header.e_shstrndx >= header.e_shnum) return false;
  if (!lies_within(header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr), file.size()) ||
      !lies_within(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), file.size()))
    return false;
  const auto has = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= file.size() && bytes <= file.size() - offset;
  };
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, file.data() + header.e_shoff + static_cast<std::size_t>(i) * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && !has(section.sh_offset, section.sh_size)) return false;
  }
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, file.data() + header.e_phoff + static_cast<std::size_t>(i) * sizeof segment, sizeof segment);
    if (!has(segment.p_offset, segment.p_filesz)) return false;
  }
  return true;
}

}  // namespace saccade
