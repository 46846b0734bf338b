// Package markdown shows a model's Markdown on a terminal while it streams.
//
// A Writer takes the answer in chunks of any size and writes text that is only
// ever appended: no cursor movement, no erasing, so that scrollback and copies
// are what was seen. What is written in total depends on the text alone and
// not on how it was cut into chunks.
//
// It is not a document converter. goldmark parses what is finished, but the
// blocks of a document that is still coming are found here, line by line, as
// CommonMark's own block algorithm does it.
//
// # What appears when
//
//   - Text of paragraphs, items and quotes appears word by word. A span
//     (emphasis, code, a link) appears when it closes; one that stays open
//     longer than [maxSpan] bytes is shown as the characters it is.
//   - Code appears as it comes, unwrapped and without a gutter or colour, so
//     that it can be copied. Its language is on the line above it.
//   - Headings, HTML and fence lines appear at their line's end.
//   - A table appears when it ends, or when [maxHeldRows] rows are there, whose
//     widths then hold for the rest.
//
// # Choices
//
// A line end inside a paragraph stays a line end: models don't wrap their
// lines, so one is meant. HTML is text, comments included. Only what can't be
// known in time is left out of CommonMark: reference links and their
// definitions are shown as they are written, and a table's rows begin with "|".
// Cells of a table are wrapped, not cut. Where colour is off, markers (**, `,
// #) stay, so that no meaning is lost.
//
// # Promises
//
// All text passes the Cleaner of package term, and what entities stand for
// passes it again: no escape code but the Writer's own colours is ever
// written. Each word's colours end with the word, so that a line of another
// stream can come between. No line ends in spaces. Words wider than the line
// are left whole for the terminal to wrap, so that a long URL can be copied.
// Work and memory are linear in the text; what is held back is bounded.
//
// A Writer belongs to one goroutine.
package markdown
