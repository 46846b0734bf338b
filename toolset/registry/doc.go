// Package registry keeps the toolsets that are installed: their records, their
// files, and what the user approved of them. It imports, updates, exports and
// removes them. It runs nothing of them, and reads no archive and no manifest
// itself: that is for packages bundle and manifest.
//
// # Vocabulary
//
//   - Revision: the contents of one installed toolset, named by their hash. The
//     toolset.yaml counts as [manifest.Marshal] writes it, so a bundle and what
//     is exported of it are one revision.
//   - Folder: where the files of a revision lie, `toolsets/<id>/<revision>` below the
//     data directory. It never changes once it exists.
//   - Plan: a bundle that was checked and not imported yet, with all that the user has
//     to see: what it contains and requires, and what differs from the installed
//     version.
//   - Item: one thing that is approved by itself, such as a host, a variable, a
//     command or the description of a tool. Approval: its pinned hash.
//   - Mirror: what turns need of the records, for reading without the store's lock.
//     It consists of an index, toolsets.json, and a part for each toolset and MCP
//     server, `cache/toolsets/<sha256>.json`. A turn reads the parts that it uses; a
//     change writes the parts of what it changed, and the index.
//
// # Records
//
// They are document 004's tables and columns, with additional tables and columns:
// toolsets, toolset_files, tools, tool_render_configs, toolset_mcp_servers and
// mcp_servers; then agents, pages, payload_types and toolset_approvals. Rows of
// toolset_files carry their revision in the key, too, so that those of a version that
// is still in use, or that a killed import left, are never taken for the current one's.
// stored_path is made of the data directory when rows are read, so that the directory
// can be moved.
//
// A builtin tool has a row in tools only where the user switched it off.
//
// An MCP server is one for all toolsets: two that declare the same id with the
// same configuration share it, and it goes with the last of them. Two that
// differ can't both be installed. So it is with pages and payload types; tools
// and agents are their toolset's own.
//
// # What asks again
//
// [Plan.Asks] compares item by item with the approvals: what is new or has another hash
// has to be approved, what was removed has not. A server whose arguments name a file of
// the bundle has the hash of the bundle's files in its own, since its command does not
// show what it runs. Code of Python tools is not an item: it can do what was approved,
// and no more.
//
// # Promises
//
//   - [Registry.Apply] is all or nothing, also for kill -9 at any point: the files are
//     extracted to a new folder, rows of files are written under their revision, and
//     one transaction makes them the toolset. What a killed one leaves is removed by
//     the next change.
//   - A damaged record makes its own toolset or server unusable, with that reason, and
//     affects no other. An import of the toolset, or an addition of the server, replaces it.
//   - A running call continues with the files that it began with: it holds [Use], and a
//     folder that is used isn't removed until later.
//   - The same contents twice change nothing but the source and the approvals.
//   - An export depends on nothing but the records: the same bytes for the same
//     state. Switches and renderers of the user's are not part of it.
//   - The index is removed before the records change and written after, so it
//     is right or missing. Parts are named by their contents, so those that an index
//     names are of one state. [ReadMirror] returns [ErrNoMirror] where anything is
//     missing or damaged, and [Registry.Mirror] writes it again from the store.
//   - One toolset, tool or server that can't be used is listed with its reason,
//     in lists and in the mirror, and keeps no other from being used.
//
// # Locks
//
// In this order: [Options.Hold], which keeps the data directory from being replaced;
// `locks/toolsets` for one change at a time, with its files;
// `locks/toolset-<id>-<revision>` shared by the users of a folder, alone by the one who
// removes it (only tried, never waited for); `locks/toolsets-mirror` while the records
// change and the mirror is written; then the store. Nothing here waits for the user or
// the network while it holds one.
//
// A Registry may be used by many goroutines. A Plan belongs to one.
package registry
