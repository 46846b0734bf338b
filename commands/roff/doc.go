// Package roff writes man pages in the macros of man(7). It knows how a page is
// written, not what stands in it.
//
// Text is escaped: no line of it can begin a request, and what isn't ASCII is
// named by its number, so that a page reads the same whatever encoding man takes
// it for. What is escaped already, and may have bold and italic parts, has the
// type [Inline]; plain strings are always escaped.
//
// A [Page] belongs to one goroutine. Nothing is read or written.
package roff
