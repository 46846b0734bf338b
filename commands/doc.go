// Package commands is fettle's command line: one file a command, each with its
// flags, an options struct, and a run function. It holds no logic that another
// front end would need too; that is the engine's.
//
// # How a command is built
//
// newX gives the cli.Command with its help and examples. Its action reads the
// flags into an xOptions, which nothing below sees the flags of, and calls
// runX(ctx, rt, opts). A [runtime] makes what a run function asks for (the
// configuration, the engine) when it is first asked, so help, version and
// completion open nothing.
//
// # Streams and exit status
//
// Standard output carries the result alone; all else goes to standard error,
// with "fettle: " before a message. Main gives the exit status by the kind of
// the fault (package fault has the table); it never calls os.Exit itself.
package commands
