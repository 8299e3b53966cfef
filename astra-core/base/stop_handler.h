// Ends a program that a signal stops with a last line, and without its
// unfinished files.
//
//   EndOnSignals("simai_serving");  // Once, when main begins.
//   RemoveOnSignal(name);           // Before the file is made.
//   KeepOnSignal(name);             // Once it is complete or removed.
//
// A program that must do more before it ends waits for signals with StopSignals
// (stop_signals.h): while such an object lives, this handler does not run.
//
// The paths and the line are global, since nothing can be passed to a handler.

#ifndef ASTRA_CORE_BASE_STOP_HANDLER_H_
#define ASTRA_CORE_BASE_STOP_HANDLER_H_

#include <string_view>

namespace astra {

// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove all
// unfinished paths, print "PROGRAM: error: stopped by SIGINT" to stderr, and
// end the process with the exit code of StopCode(). A child process after
// fork() ends without a word and removes nothing.
void EndOnSignals(std::string_view program);

// Lets signals end the process without a word, as they did before
// EndOnSignals(): another process says why the run ends.
void EndSilentlyOnSignals();

// Adds a file, or a folder that only goes if it is empty, to the unfinished
// paths. The last to be added is removed first.
void RemoveOnSignal(std::string_view path);

// Takes `path` from the unfinished paths.
void KeepOnSignal(std::string_view path);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_STOP_HANDLER_H_
