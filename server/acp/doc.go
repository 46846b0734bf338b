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
//   - Form: what a running tool asks the person. It is elicitation/create where the
//     editor has that; a yes or a no is a permission elsewhere (forms.go).
//
// # The editor's files and terminals
//
// The states of the workspace are the truth that undo relies on, and they are
// taken of the folder on the disk. So tools read and write there, in their
// sandbox, and never through fs/write_text_file or terminal/create: a write that
// goes through the editor's buffers may reach the disk later or not at all, and a
// command in its terminal has no sandbox and no end that fettle could hold it to.
// The editor is shown what tools wrote as diffs, taken of the states before and
// after the call, and finds the files changed on the disk as after any other
// program. fs/read_text_file is used for one thing: a file that a prompt links is
// read as the editor has it, with what isn't saved yet (links.go).
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
