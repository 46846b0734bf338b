// Package modelcache keeps what providers said of their models, so that a
// listing need not ask each time and completion need not ask at all. It holds
// what a provider said and nothing of what the configuration says, and it
// decides nothing: how old is too old is the caller's.
//
// # Vocabulary
//
//   - List: the models of one provider as they were at one moment.
//   - Age: how long ago that was, by the clock of who reads.
//
// # Files
//
// Each provider has a file of its own in the folder, so that two processes
// that write at once spoil nothing. A file is written beside its place and
// renamed into it. A file that can't be read, is too large, is of another
// version or belongs to another address counts as none: all of it can be had
// again, so nothing here is worth an error but a write that fails.
//
// Names and details come from servers. They are kept as they came, within
// bounds on length and number; who shows them makes them harmless.
//
// # Concurrency
//
// A Cache may be used by several goroutines and processes. The last one to
// write a provider's list wins.
package modelcache
