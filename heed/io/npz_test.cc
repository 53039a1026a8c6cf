#include "heed/io/npz.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "heed/base/error.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

const std::vector<float> kNumbers = {1, 2, 3, 4, 5, 6};

std::string archive() {
  NpzWriter writer;
  writer.add("x", make_view(kNumbers.data(), {2, 3}));
  writer.add_text("about.json", "{}");
  return writer.bytes();
}

std::string refused_archive(const std::string& bytes) {
  return testing::refusal([&] {
    const NpzReader reader(bytes, "t.npz");
    reader.array("x");
    reader.text("about.json");
  });
}

// The 16 or 32 bits at a place in bytes.
template <typename T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

// Where the central directory's header of the first entry is.
std::size_t directory_of(const std::string& bytes) { return bytes.find(std::string("PK\x01\x02", 4)); }

TEST(Npz, WhatIsWrittenReadsTheSame) {
  const NpzReader reader(archive(), "t.npz");
  const NpyArray x = reader.array("x");
  EXPECT_EQ(x.shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(std::memcmp(x.elements.data<float>(), kNumbers.data(), kNumbers.size() * sizeof(float)), 0);
  EXPECT_EQ(reader.text("about.json"), "{}");
  EXPECT_EQ(reader.entries(), (std::vector<std::string>{"about.json", "x.npy"}));
}

TEST(Npz, TheSameEntriesAreTheSameBytes) { EXPECT_EQ(archive(), archive()); }

// numpy.savez_compressed(x=numpy.arange(4, dtype="f4"))
TEST(Npz, DeflatedEntriesOfNumpyAreRead) {
  static constexpr unsigned char kBytes[] = {
      0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x52, 0x33, 0x13, 0xfb, 0x4e,
      0x00, 0x00, 0x00, 0x90, 0x00, 0x00, 0x00, 0x05, 0x00, 0x14, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x01, 0x00, 0x10,
      0x00, 0x90, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b, 0xec,
      0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0,
      0x6e, 0x93, 0x66, 0xa2, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92,
      0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x26, 0x3a,
      0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0x14, 0x00, 0x2e, 0x06, 0x30, 0x68, 0xb0, 0x07, 0x12, 0x0e, 0x40, 0xe4, 0x00, 0x00,
      0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x52, 0x33, 0x13,
      0xfb, 0x4e, 0x00, 0x00, 0x00, 0x90, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00,
      0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0x85, 0x00, 0x00, 0x00, 0x00, 0x00};
  const NpzReader reader(std::string(reinterpret_cast<const char*>(kBytes), sizeof kBytes), "t.npz");
  const NpyArray x = reader.array("x");
  ASSERT_EQ(x.shape, (std::vector<Index>{4}));
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(x.elements.data<float>()[i], static_cast<float>(i));
}

TEST(Npz, AnArchiveHasAnEntry) {
  EXPECT_EQ(testing::refusal([] { NpzWriter().bytes(); }), "NpzWriter: an archive must have an entry");
}

TEST(Npz, OneNameIsWrittenOnce) {
  NpzWriter writer;
  writer.add("x", make_view(kNumbers.data(), {6}));
  EXPECT_EQ(testing::refusal([&] { writer.add("x", make_view(kNumbers.data(), {6})); }),
            "NpzWriter: there is an entry x.npy already");
}

TEST(NpzHostile, WhatIsNoArchiveIsRefusedByName) {
  EXPECT_EQ(refused_archive("").substr(0, 26), "t.npz: is no .npz archive:");
  EXPECT_EQ(refused_archive("PK").substr(0, 26), "t.npz: is no .npz archive:");
  EXPECT_EQ(testing::refusal([] { NpzReader(archive(), "t.npz").array("y"); }), "t.npz: has no entry y.npy");
  EXPECT_EQ(testing::refusal([] { NpzReader(archive(), "t.npz").text("x\n"); }), "t.npz: has no entry x\\x0a");
}

TEST(NpzHostile, EveryPrefixIsAnError) {
  const std::string bytes = archive();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(refused_archive(bytes.substr(0, size)), "no error") << size;
}

TEST(NpzHostile, SizesThatNoFileCanHoldAreRefusedBeforeTheirMemory) {
  const std::string bytes = archive();
  const std::size_t directory = directory_of(bytes);
  ASSERT_NE(directory, std::string::npos);
  // Offset 24 of a directory's header is the size, 10 the packing; 22 and 8 of the local one.
  std::string large = with<std::uint32_t>(with<std::uint32_t>(bytes, directory + 24, 0x7FFFFFFF), 22, 0x7FFFFFFF);
  EXPECT_NE(refused_archive(large), "no error");
  large = with<std::uint16_t>(with<std::uint16_t>(large, directory + 10, 8), 8, 8);
  EXPECT_EQ(refused_archive(large), "t.npz: x.npy: cannot be 2147483647 bytes of 152 packed ones");
}

TEST(NpzHostile, AWrongChecksumIsFound) {
  std::string bytes = archive();
  const std::size_t number = bytes.find(std::string(reinterpret_cast<const char*>(&kNumbers[1]), sizeof(float)));
  ASSERT_NE(number, std::string::npos);
  bytes[number] = static_cast<char>(bytes[number] ^ 1);
  EXPECT_EQ(refused_archive(bytes).substr(0, 24), "t.npz: x.npy: is broken:");
}

TEST(NpzHostile, OtherPackingIsRefused) {
  const std::string bytes = archive();
  const std::string packed = with<std::uint16_t>(with<std::uint16_t>(bytes, directory_of(bytes) + 10, 12), 8, 12);
  EXPECT_EQ(refused_archive(packed), "t.npz: x.npy: must be stored or deflated, and not encrypted");
}

}  // namespace
}  // namespace heed
