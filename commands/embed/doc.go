// Package embed has the command that turns texts into vectors: lines or JSON lines in, JSON
// lines or binary numbers out.
//
// Nothing here is used by several goroutines.
package embed
