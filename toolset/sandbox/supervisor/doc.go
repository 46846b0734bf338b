// Package supervisor is the process between fettle and a tool: it builds a sandbox
// around itself, starts the tool's process in it, and ends with everything that
// came of it. It decides nothing: its launcher sends it a [Spec], in which all
// is resolved.
//
// # How a program becomes a supervisor
//
// A program that links this package is its own supervisor: its launcher starts it
// again with [Arg] as the first argument and a socket as descriptor 3. That is
// noticed while the program's packages are being set up, before most of them
// are, since a supervisor needs none of them and is started for every call; going
// through the program's main function took about three times as long. Go sets
// packages up in the order of their import paths as far as their own imports
// allow; so this package imports few, and only such as cost nothing. In every
// other start of a program all that happens is that its first argument is
// compared.
//
// # The talk
//
// Lines of JSON: the launcher sends one [Spec] and then [Order]s, the supervisor
// sends [Notice]s. Whoever finds the other gone ends: a launcher that closes
// its side, or is killed, thereby has everything ended.
//
// # Threads
//
// What confines a process binds the thread that starts it, which is one of
// its own and ends with that; the supervisor's other threads stay free. The process
// can't touch them: the supervisor isn't dumpable, and outside of the process's
// Landlock domain.
//
// A supervisor is one process with one purpose; nothing here is for concurrent use.
package supervisor
