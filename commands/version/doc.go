// Package version is the command version, which --version runs, too. The version itself
// comes from the linker and is set in package commands.
package version
