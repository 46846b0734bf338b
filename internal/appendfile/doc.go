// Package appendfile appends lines to files that several processes append to,
// such as the history of `chat` and recordings of models.
//
// A line is one write. A write that fails in the middle, on a full disk for example,
// leaves nothing in the file; where that is not possible, and after a process was
// killed in the middle of a write, the next line begins on a new line, so that the torn
// one does not damage another line.
package appendfile
