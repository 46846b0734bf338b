// Package toolset defines what a tool is, how a call reaches it, and how tools
// are chosen and named for a model. A builtin tool, a Python function and a
// tool of an MCP server are the same [Tool] here.
//
// It runs nothing itself: a [Runner] does, and the builtin ones live in the
// room below. It knows nothing of turns, models or approvals; the engine asks
// it, never the other way round.
//
// # Vocabulary
//
//   - Tool: the description (document 000's ToolConfig, document 004's tools
//     table, MCP's annotations). Runner: the code that does it. Entry: both.
//   - Asker: whom a running call may ask, a person or a model. Only those of MCP
//     servers do.
//   - Tool id: `<toolset>:<id>`, builtins bare. Bare id: the part after the
//     colon. Each part is letters, digits, `_`, `-`, `.` and `/`, begins with
//     a letter, a digit or `_`, and has at most 128 characters.
//   - Set: an immutable collection of entries with distinct ids.
//   - Workspace: the folder that a call may read and write, opened as an
//     [os.Root]. Managed: fettle's own. Bound: the user's.
//   - ToolError: a failure that the model is told about, since it can do
//     something about it. Any other error is trouble of ours.
//
// # Which tools a pattern means
//
// [Match] compares a pattern with a whole tool id. `*` matches any run of
// characters and `?` one, but neither matches the colon, so that `read_*`
// can't mean a stranger's `read_x:wipe`: it means builtins only, `csv:*` means
// one toolset, and `*:*` the tools of every toolset. `*` alone and `**` mean
// every tool. `[a-z]` is a class, `{a,b}` a choice, and `\` takes the next
// character as it is. [Set.Select] adds three rules; see there.
//
// # What the model sees
//
// The bare id, unless two offered tools share it; then each of those goes by
// its tool id. Fitting names into a provider's alphabet is the work of the
// provider's adapter.
//
// Tools, entries and sets are values that nobody changes once they are made;
// they may be shared between goroutines. A Runner is safe for concurrent use.
package toolset
