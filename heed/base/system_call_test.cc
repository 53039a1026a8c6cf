#include "heed/base/system_call.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "heed/base/descriptor.h"

namespace heed {
namespace {

TEST(SystemCall, IsMadeAgainWhereASignalInterruptsIt) {
  int calls = 0;
  const int result = uninterrupted([&] {
    errno = EINTR;
    return ++calls < 3 ? -1 : 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(calls, 3);
}

TEST(SystemCall, IsNotMadeAgainForAnyOtherReason) {
  int calls = 0;
  const int result = uninterrupted([&] {
    ++calls;
    errno = EIO;
    return -1;
  });
  EXPECT_EQ(result, -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(calls, 1);
}

TEST(SystemCall, WritesAllIntoAPipeThatDoesNotWait) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const std::string text(1 << 20, 'a');  // more than a pipe holds
  std::string got;
  std::thread reader([&] {
    std::array<char, 4096> buffer;
    while (true) {
      const ::ssize_t bytes = ::read(out.number(), buffer.data(), buffer.size());
      if (bytes == 0) return;
      if (bytes > 0) got.append(buffer.data(), static_cast<std::size_t>(bytes));
      if (bytes < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_TRUE(write_whole(in.number(), text));
  in.close();
  reader.join();
  EXPECT_EQ(got, text);
}

TEST(SystemCall, SaysWhyItCannotWrite) {
  const Descriptor full(::open("/dev/full", O_WRONLY));
  ASSERT_TRUE(full.open());
  EXPECT_FALSE(write_whole(full.number(), "a"));
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace heed
