// Package code colours source code a line at a time, as it streams: comments,
// strings, numbers and key words. It is no parser and never holds a line back
// for the next: what it carries from line to line is whether a comment or a
// string of several lines is open.
//
// A library of lexers wants the whole text, would draw a block again with every
// line, and costs 18 ms at every start of the program (chroma v2.27, measured);
// what a terminal of sixteen colours shows of it is what is here.
//
// The text itself is never changed: with the colours taken out, a line is what
// came in. A [Colourer] belongs to one goroutine.
package code
