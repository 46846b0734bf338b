// Package chat is the command chat: a talk is one run of it, which a page on a terminal
// or the plain mode in a pipe drives. Each turn is asked with the options of package
// question and shown by package follow; slash commands run those of the whole program,
// which the caller of [New] provides.
//
// One job runs at a time, a turn or a command, in a goroutine of its own, while the page's
// loop takes keys. Lists for the menu are looked for in goroutines that the page waits
// for, within a bound, before it ends.
package chat
