// Signals that ask the program to end.
#pragma once

namespace hogbatch {

// Calls `handler` for the signal, with the flags of sigaction. A signal that was ignored when the
// program started, as nohup and a shell's & do it, stays ignored.
void HandleUnlessIgnored(int signal, void (*handler)(int), int flags);

}  // namespace hogbatch
