// Package builtin has the tools that come with fettle: reading, writing,
// editing, listing and searching the files of the chat's workspace.
//
// It starts no programs, reaches no network and keeps no state. Each tool is
// one file with its description for the model beside it. Undo is not its work:
// the engine takes a snapshot before and after each call.
//
// # What is promised
//
//   - Everything happens beneath the workspace's [os.Root]. No `..`, no
//     absolute path and no link leads out, also when a path is replaced by a
//     link between two looks at it.
//   - In a bound workspace, `.git` is neither read nor written, by any of its
//     names.
//   - Named pipes, sockets and devices are never opened.
//   - A file is written to a temporary name beside it, synced and renamed, so
//     that a reader and a crash see the old content or the new. The mode of an
//     existing file stays; a link is followed, so that it stays a link. Other
//     hard links of the file keep the old content.
//   - edit_file changes no byte outside of what it replaces: line endings,
//     byte-order mark and final newline stay, and new lines get the line
//     ending of their surroundings.
//   - Output is bounded, and says what was left out and how to get it.
//   - A failure that the model can act on is a [toolset.ToolError].
//
// # Vocabulary
//
//   - Name: a slash-separated path below the workspace, "." for itself.
//   - Shown name: the name as people and models see it; one with control
//     characters or bytes that aren't UTF-8 is shown as a quoted Go string,
//     and is understood in that form.
//   - Generated: a folder that can be made again, told for certain by what
//     lies in it or beside it. It is mentioned, and not walked unless asked
//     for by path.
//
// The tools may be called from several goroutines. Two writers of one file
// don't mix their bytes: one is told that the file was changed meanwhile, or
// the last one wins.
package builtin
