// Package helptest holds the types that commands print as JSON against the page
// "output" of the help. Tests alone import it: those of each family of commands,
// since its types are its own.
package helptest
