#pragma once

// Inline PTX in kernel sources: griddepcontrol is tracked; everything else must be a function of ptx.cuh with a
// counterpart in ptx_emulated.hpp. Included last, since it redefines asm and volatile.
namespace {
namespace cpu {

inline void instruction(const char* text, int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  const auto is = [text](const char* name) { return __builtin_strncmp(text + 1, name, __builtin_strlen(name)) == 0; };
  __asm__ __volatile__("" ::: "memory");  // no access moves across
  if (is("griddepcontrol.wait")) {
    runtime.waited = true;
    runtime.before_wait = false;
  } else if (!is("griddepcontrol.launch_dependents")) {
    runtime.fail({"asm", file, line}, text);
  }
}

}  // namespace cpu
}  // namespace

#define asm
#define volatile(...) cpu::instruction(#__VA_ARGS__)
