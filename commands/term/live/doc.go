// Package live is a page at the bottom of a terminal that stays a terminal:
// what is finished is printed once, above, and is from then on the terminal's
// own text, with its scrollback, its copying and its search; only the few rows
// below it are drawn again. It never switches to another screen, asks the
// terminal nothing, and wants no mouse.
//
// It knows nothing of chats and models: it draws rows, edits a line and reads
// keys. What they mean is its user's.
//
// # Vocabulary
//
//   - Transcript: what was written to a [Screen]. Whole lines go to the
//     terminal; the line that isn't ended yet is shown among the live rows.
//   - Live rows: the open line, the status and the rows of the user below them,
//     which are drawn again when they change, and only then.
//   - Frame: one write that brings the terminal up to date.
//   - Fold: a long paste, shown in a few words and sent whole.
//   - Key: what a person pressed, or a paste as a whole.
//
// # Choices
//
//   - Rows are counted, not asked for. When the width changes, a terminal that
//     wraps its lines anew moves the live rows; one that doesn't, leaves them.
//     [Reflows] tells which by the environment. Live rows end before the last
//     column, so that the terminal itself never wraps one.
//   - The open line is drawn with the live rows and printed when it ends:
//     nothing of the transcript is ever drawn over.
//   - A frame is one synchronized update (mode 2026), which terminals that
//     don't know it ignore.
//
// # Promises
//
// A Screen may be written to from several goroutines; a frame is drawn at most
// every [frameGap], and none where nothing changed. It has a timer only while
// a frame waits. An [Editor] and a [Parser] belong to one goroutine. A [TTY] has
// one reader; it puts the modes back when it is closed, and may be closed from
// anywhere. History is appended a line at a time, so that several programs may
// share its file.
//
// On Windows there is no TTY: its console gives no keys without being polled.
package live
