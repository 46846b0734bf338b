// Command fettle gives any model a workbench: ask it something from the shell,
// hand it tools, and keep what came of it. Everything is in package commands;
// this file only turns its result into an exit status.
package main

import (
	"context"
	"os"

	"github.com/fettle-cli/fettle/commands"
	"github.com/fettle-cli/fettle/commands/term"
)

func main() {
	os.Exit(commands.Main(context.Background(), os.Args, term.System()))
}
