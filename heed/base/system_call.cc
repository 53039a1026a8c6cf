#include "heed/base/system_call.h"

#include <poll.h>
#include <unistd.h>

namespace heed {

bool write_whole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ::ssize_t wrote = uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (wrote >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {  // another process may have set a shared pipe or terminal not to block
      ::pollfd waiting{descriptor, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace heed
