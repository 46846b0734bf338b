// Package term is the terminal: the three standard streams and what each of
// them is, colour, model text made harmless, questions to a person, the status
// line with the progress bar on it, and the small formatters that commands share.
//
// It knows nothing of turns, chats or providers, and holds no words of any
// command. Markdown is rendered by the package markdown below it.
//
// # Vocabulary
//
//   - Stream: stdin, stdout or stderr. Each is judged for itself: stdout may be
//     a pipe while stderr is a terminal.
//   - Terminal: a stream that a person looks at. Its width is asked anew each
//     time. Nothing here ever asks the terminal a question (no OSC, DA or
//     cursor reports), since the answer would arrive as typed input.
//   - Screen: the terminal that stdout and stderr share, with what is known of
//     its cursor: whether it is in mid-line, and which stream left it there.
//   - Cleaner: makes text from a model, a server or a file harmless. Clean text
//     has no ESC and no C0 or C1 control but newline and tab; for a terminal
//     also no bidi control and nothing else that hides text. What is taken out
//     is shown, never dropped.
//   - Console: the person's terminal as a prompt uses it, opened apart from the
//     streams (/dev/tty, CONIN$), so that a question works while stdin is a
//     pipe.
//
// # Concurrency
//
// An Output, the Status and Ask may be used by several goroutines. One Write is
// one write to the file, and a line that one stream began is ended before the
// other stream writes to the same screen. A Cleaner and a Table belong to one
// goroutine. Only the status line has a timer; Clear ends it.
//
// # Style of what is printed
//
// Results go to stdout and everything else to stderr, without capitals or full
// stops after "fettle:". Escape codes are written only where colour is on; without
// it the status line is taken off with blanks, and a dumb terminal has none.
package term
