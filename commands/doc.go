// Package commands is fettle's command line: it assembles the program. The command X is
// the package X below it, or a package that is named after X's family; the map in
// ARCHITECTURE.md has both. How a turn is shown is package follow, and what all commands
// work with is package workbench. There is no logic here that another front end would
// need too: that is the engine's.
//
// # How a command is built
//
// New, or NewX of a family, gives the cli.Command with its help and examples. Its action reads the
// flags into an xOptions, which nothing below sees the flags of, and calls
// runX(ctx, rt, opts). A workbench.Runtime makes what a run function asks for (the
// configuration, the engine) when it is first asked, so help, version and
// completion open nothing.
//
// # Streams and exit status
//
// Standard output carries the result alone; all else goes to standard error,
// with "fettle: " before a message. Main gives the exit status by the kind of
// the fault (package fault has the table); it never calls os.Exit itself. What
// of standard output was lost is a failure, also where a command didn't look.
// Main may be called again: it keeps nothing, but while it runs SIGINT, SIGTERM
// and SIGHUP are its own, and the environment and the current folder are read.
package commands
