// Package man is the command man: the help of each command as a man page. A page is made
// of the command itself, so it can't differ from the help; package roff has the language.
package man
