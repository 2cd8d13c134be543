#pragma once

// The vector types, with the alignment that a GPU's loads of them require.
namespace {

#define SACCADE_VECTORS(type, name, two, four)                                \
  struct name##1 {                                                            \
    type x;                                                                   \
  };                                                                          \
  struct __attribute__((aligned(two))) name##2 {                              \
    type x, y;                                                                \
  };                                                                          \
  struct name##3 {                                                            \
    type x, y, z;                                                             \
  };                                                                          \
  struct __attribute__((aligned(four))) name##4 {                             \
    type x, y, z, w;                                                          \
  };                                                                          \
  inline name##1 make_##name##1(type x) { return {x}; }                       \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

SACCADE_VECTORS(signed char, char, 2, 4)
SACCADE_VECTORS(unsigned char, uchar, 2, 4)
SACCADE_VECTORS(short, short, 4, 8)
SACCADE_VECTORS(unsigned short, ushort, 4, 8)
SACCADE_VECTORS(int, int, 8, 16)
SACCADE_VECTORS(unsigned, uint, 8, 16)
SACCADE_VECTORS(long long, longlong, 16, 16)
SACCADE_VECTORS(unsigned long long, ulonglong, 16, 16)
SACCADE_VECTORS(float, float, 8, 16)
SACCADE_VECTORS(double, double, 16, 16)
#undef SACCADE_VECTORS

}  // namespace
