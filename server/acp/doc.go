// Package acp is the engine for editors: the agent's side of the Agent Client
// Protocol, wire version 1. An editor starts `fettle acp` and speaks JSON-RPC
// with it, a message a line, over standard input and output. As the rest of
// server does, it adds nothing to what a turn is: a prompt is engine.Start, and
// what the editor sees is engine.Follow as session/update notifications.
//
// # Vocabulary
//
//   - Session: a chat that is bound to the editor's folder. Its id is the chat's,
//     from before there is a chat: one is made by the first prompt, so an empty
//     thread leaves nothing behind (session.go).
//   - Prompt: one session/prompt, from its request to its answer. A session has
//     one at a time (prompt.go, turn.go).
//   - Update: what a notification says of a session (wire.go). A teller makes
//     them of events (tell.go), and the same one of kept messages (replay.go).
//   - Mode: a mode of approvals, or plan mode. The chat keeps it (modes.go). The agent
//     that the chat enters by is an option (settings.go).
//   - Command: a prompt that begins with a slash and is carried out here, such as
//     /undo, or that one of the user's prompts stands for (commands.go).
//   - Review: the changes of a call that has run, as diffs in a permission request, which
//     applies or discards them as a whole (review.go).
//   - Form: what a running tool asks the person. It is elicitation/create where the
//     editor has that; a yes or a no is a permission elsewhere (forms.go).
//
// # The editor's files and terminals
//
// Where the editor offers fs/read_text_file and fs/write_text_file, the model's file tools
// see the text that is not saved yet, and write through the editor, so that neither
// overwrites the other's changes (files.go; the tools' side is toolset.Editor). The states
// that undo relies on are taken of the disk. So a tool that is about to change a file has
// the editor save it first, and after a write the disk has the text: if the editor did not
// save it, the tool does. Only paths in the session's folder are asked for, by names that
// contain no link; what replaces a folder by a link between that and the editor's own
// access is not noticed. An editor that fails makes the call fail, and nothing is changed.
// Commands and the tools of toolsets work on the disk, in their sandbox.
//
// The user can have commands run in the editor's terminal (terminal.go), by an option of
// the session that is off at first. Nothing contains such a command, so each one asks,
// whatever the rules allow. It is killed when the prompt is cancelled, and its terminal is
// released in every case. How soon the process is gone then is up to the editor.
//
// # Errors
//
// The next step after a failure is worded here, by the kind of the failure (advice.go). The
// hints of a fault are commands for a shell, and are not sent.
//
// # What is hostile
//
// Editors pass on what projects and people give them. A line is bounded, and one
// that is no message is answered with an error and forgotten. Names and texts that
// come from models and tools go into titles without control characters, and what
// is sent of a call's input and output is bounded.
//
// # Promises
//
//   - Nothing but messages is written to Options.Out.
//   - Requests but prompts are carried out in the order in which they came. A
//     prompt is begun in that order too, and runs beside what follows.
//   - session/cancel ends a prompt with the stop reason cancelled, also one that
//     waits for its turn to begin. A permission that is being asked for is then
//     withdrawn.
//   - Where the editor goes away, by the end of its stream or because it can't be
//     written to, running turns are cancelled, and their chats can be gone on with.
//
// # Concurrency
//
// Run owns all that it starts, and waits for it no longer than stopTime. One
// goroutine reads, and may stay behind where reading can't be interrupted.
package acp
