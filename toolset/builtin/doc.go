// Package builtin has the tools that come with fettle: for the files of the
// chat's workspace, for commands, and for the web.
//
// It keeps no state. Each tool is one file with its description for the model
// beside it. Programs are started by a [toolset.Launcher] alone, and the web is
// reached through internal/netguard; the one address that may lead elsewhere is
// that of the search service, which the user sets. Undo is not its work: the
// engine takes a snapshot before and after each call.
//
// # Commands and the web
//
//   - A command runs under the policy that the file tools obey, on the call's
//     workspace, unless that has a terminal of an editor's, which contains nothing. It and all that it started are gone when the call ends. One
//     that was ended says by what: time, memory, disk.
//   - Pages and PDFs are read by a process of its own, with limits: their
//     readers are others' work, and some input makes them hang.
//   - What the web says is marked as such in what the model gets, its control
//     and invisible characters are taken out, and each size is bounded.
//
// # What is promised of the file tools
//
//   - Everything happens beneath the workspace's [os.Root]. No `..`, no
//     absolute path and no link leads out, also when a path is replaced by a
//     link between two looks at it.
//   - In a bound workspace, `.git` is neither read nor written, by any of its
//     names.
//   - Named pipes, sockets and devices are never opened.
//   - A file is written to a temporary name next to it, synced and renamed, so
//     that a reader and a crash see the old content or the new; or to the layer of the
//     workspace, which the engine lands in the same way (layer.go). The mode of an
//     existing file stays; a link is followed, so that it stays a link. Other
//     hard links of the file keep the old content.
//   - edit_file changes no byte outside of what it replaces: line endings,
//     byte-order mark and final newline stay, and new lines get the line
//     ending of their surroundings.
//   - Where a workspace has an editor, its text that is not saved is what the tools read,
//     and they write through it; the disk has what they wrote afterwards in every case. A
//     file that is about to be changed is saved first, so that the state before the call
//     has it. An editor that fails changes nothing, and the model gets the error (editor.go).
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
