#include "heed/base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace heed {

void hold_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // What is opened gets the lowest descriptor that is free: this one. A place that is only named, not opened for
    // reading or writing, takes no bytes; /dev/null would swallow them without a word.
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) ::open("/", O_PATH);
  }
}

}  // namespace heed
