// Package manifest reads, checks and writes toolset.yaml, the file that says
// what a toolset contains and wants. It opens no other file: whether a module
// or an artifact is there is for whoever holds the bundle to see ([Manifest.Files]
// lists what is named).
//
// # Vocabulary
//
//   - Manifest: the contents of a toolset.yaml, document 004's fields and the
//     optional ones of manifest version 1.
//   - Document: one reading of a file: its manifest, if it can be used, and
//     its problems, each with line and column.
//   - Problem: one thing that is wrong. An error keeps the manifest from being
//     used; a warning is for a person to judge. Its code is stable.
//   - Structural: an error that the published JSON Schema ([Schema]) finds too.
//   - Reference: `$args.x`, `$return.y` and their like in a renderer;
//     `$context.x` in a page's context; `$args.x` and `$steps.ID.y` in a
//     workflow's steps; `${NAME}` in what is handed to an MCP server.
//
// # What a file may be
//
// UTF-8 (a byte order mark is passed over), one YAML document, at most 256 KiB,
// 64 levels and 20,000 values. Aliases, merge keys, tags and directives are
// refused: no
// value means anything but itself. So are duplicate keys, keys that aren't text,
// and numbers that YAML's versions read differently. An anchor that nothing
// refers to is harmless and passed over. Unknown fields are errors that name
// the nearest known one. A null is no value: leave the field out.
//
// # What is promised
//
//   - All problems are reported at once, in the file's order, up to a hundred;
//     only YAML that can't be read at all ends at its first fault.
//   - Messages hold no control characters and no more than a few words of the
//     file. Texts of the manifest itself are kept as they are: whoever shows
//     them cleans them, and a warning says which need it.
//   - A structural error and a complaint of [Schema] are the same thing, since
//     both come from one table of shapes.
//   - [Marshal] writes the same bytes for the same manifest, and what it wrote
//     reads as that manifest. Comments are not kept.
//   - A hostile file costs no more than an honest one of the largest size: some
//     tens of milliseconds and of megabytes.
//
// # Other formats
//
// [FromMCPB] and [FromSkill] make a manifest of an MCP bundle's manifest.json
// and of an Agent Skill's SKILL.md: one MCP server, or one agent. The files of
// the other bundle come to lie in assets/ ([ConvertedFolder]). What has no
// place in a toolset is left out and named in a note; nothing that would need
// more trust than the user gave is guessed at.
//
// # Where document 004 is silent
//
//   - An entrypoint `tools.analyze:run` is tools/analyze.py; so is
//     `analyze:run`, relative to tools/. A relative one may not begin with the
//     name of a module of Python's own: `os:system` means that of nobody here.
//   - A tool may share its id with a builtin one (document 004's App Builder
//     does), since a tool id carries the toolset's. It may not have a name that
//     models take for a tool of their provider, such as `bash`.
//   - An MCP server starts in the toolset's folder, by a program's name and
//     arguments, never through a shell.
//   - New chats begin with the agent that has entry: true; a toolset has one at most.
//
// Documents and manifests are plain values; nothing here is shared, waits or
// writes. [Schema] and the tables are built on first use.
package manifest
