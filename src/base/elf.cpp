#include "base/elf.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

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

namespace {

struct BuildIdSearch {
  std::uintptr_t address;
  std::string found;
};

/// The build ID in a segment of notes.
std::string build_id_in(std::string_view notes) {
  Elf64_Nhdr note;
  const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name = padded(note.n_namesz);
    const std::size_t bytes = sizeof note + name + padded(note.n_descsz);
    if (bytes > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, 4) == std::string_view("GNU", 4)) {
      std::string digits;
      for (const char byte : notes.substr(sizeof note + name, note.n_descsz))
        digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return digits;
    }
    notes.remove_prefix(bytes);
  }
  return {};
}

int look_in(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<BuildIdSearch*>(data);
  std::string id;
  bool contains = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.address >= start && search.address - start < segment.p_memsz)
      contains = true;
    if (segment.p_type == PT_NOTE && id.empty())
      id = build_id_in({reinterpret_cast<const char*>(start), segment.p_memsz});
  }
  if (!contains) return 0;
  search.found = std::move(id);
  return 1;
}

}  // namespace

std::string build_id(const void* address) {
  BuildIdSearch search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(look_in, &search);
  return search.found;
}

}  // namespace saccade
