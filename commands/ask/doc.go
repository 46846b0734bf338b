// Package ask is the command ask: one question, whose answer goes to standard output. It
// reads the flags and the input, fills the prompt that -p names, and has the turn run by
// this process's engine, by a running fettle serve, or by the server that --server names.
package ask
