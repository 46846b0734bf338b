// Package machine looks at the machine: which programs there are, whether the
// clock can be right, what the terminal shows. It also runs checks, its own and
// others', side by side.
//
// It knows neither the configuration nor the store, and mends nothing: who
// looks at those hands in a [Check] of its own. Nothing is written, and no
// network is used. The programs that are run are those that the PATH names;
// each gets nothing to read, no variable that may hold a secret, and a
// deadline.
//
// # Vocabulary
//
//   - Check: something to look at, with a time limit.
//   - Result: what was found of one thing, with a status and what to do.
//
// # Concurrency
//
// [Run] waits for its checks, each to its limit. One that outlasts its limit,
// as a folder on a dead network drive can hold a system call, is reported and
// left behind: no call can be taken back. The goroutine ends with the call or
// with the program.
package machine
