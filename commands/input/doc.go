// Package input reads what a question comes with besides its flags: standard
// input, and the files that -f names. It knows nothing of models or of the
// command line; it gives bytes and message parts, or a fault of kind Usage.
//
// # Standard input
//
// A terminal is never read. A pipe, a socket or a file is read to its end,
// however slowly it comes: nothing is cut off by a timeout. Where nothing
// comes for a second, one notice says so, since a script may have left its own
// standard input open without meaning it for us. /dev/null and a closed
// standard input are empty.
//
// On Unix the read waits in poll(2) for data or for ctx, so a cancelled ctx
// ends it at once and no goroutine is left behind; the descriptor's own flags
// are not touched, since other processes share them. What remains: if another
// process takes the data between poll and read, the read blocks until more
// comes. On Windows a goroutine reads; after a cancel it stays in its last
// read until the process ends.
//
// # Files
//
//   - text becomes a file part. UTF-8 and UTF-16 with its mark are text; the
//     mark is dropped. A NUL makes a file binary, and so do bytes that aren't UTF-8,
//     unless they are very few: these become U+FFFD, and a notice says how many.
//   - PNG, JPEG, GIF and WebP, told by their content, become image parts.
//   - a folder gives its text files, sorted, within bounds of number and size;
//     `.git`, links and what isn't text are left out, and a notice says what.
//   - a FIFO or a device, such as the shell's <(command), is read like
//     standard input. `-` is standard input.
//
// Everything has a limit, and an error that names it. All names are tried
// before the errors of all of them are reported as one fault.
//
// # Vocabulary
//
//   - Source: one open file, pipe or device that is read to its end.
//   - Block: standard input as [Compose] sets it before the prompt.
//
// The functions hold no state. Those that read use Options.In, which has one
// reader at a time.
package input
