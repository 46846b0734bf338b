// Package cmdline reads what was typed. It has the order in which cli/v2 wants a
// command line, the flags that commands share, what arguments name (a chat, a
// message, a day), and the words for what can't be understood. It is not the
// commands themselves, and prints nothing: mistakes are faults with the line to
// type instead, which Main shows.
//
// A word is an argument as a shell gives it; [ShellWord] writes one so that it can
// be pasted. A path is the name of a command with those above it, such as
// "fettle chats list". Nothing here is kept or shared.
package cmdline
