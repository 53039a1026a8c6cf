// Standard input, output and error of a program whose caller closed them.
//
//   int main() { heed::hold_standard_streams(); ... }
#pragma once

namespace heed {

// Occupies those of the descriptors 0, 1 and 2 that are closed, so that no file which the program opens later gets one
// of them, and with it what is printed. Reading and writing them stays an error, as what a closed output loses should
// be. To be called before anything is opened.
void hold_standard_streams();

}  // namespace heed
