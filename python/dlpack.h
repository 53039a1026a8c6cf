// DLPack's structures (github.com/dmlc/dlpack, version 0.8), by which array libraries hand each other memory: a capsule
// named "dltensor" holds a DlManaged; who takes it over renames it to "used_dltensor" and calls the deleter when done.
#pragma once

#include <cstdint>

namespace heed::python {

inline constexpr const char* kDlCapsule = "dltensor";
inline constexpr const char* kUsedDlCapsule = "used_dltensor";

struct DlDevice {
  static constexpr std::int32_t kCpu = 1, kCudaHost = 3;  // the two whose memory a processor reads
  std::int32_t type, id;
};

struct DlType {
  static constexpr std::uint8_t kInt = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kBool = 6;
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t ndim;
  DlType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};

}  // namespace heed::python
