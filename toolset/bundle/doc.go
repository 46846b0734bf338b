// Package bundle reads toolsets as people hand them to each other (a ZIP, a
// tar.gz, a folder, an https address) and writes them as ZIPs. It decides what
// an archive from a stranger may be; what its toolset.yaml says is for package
// manifest, and what becomes of it for whoever imports.
//
// # Vocabulary
//
//   - Bundle: the files of one toolset, read and hashed once.
//   - Kind: a toolset of ours, an MCP bundle (.mcpb, .dxt), or an Agent Skills
//     folder. The file that makes it one (toolset.yaml, manifest.json with its
//     version, SKILL.md) is its manifest file.
//   - Source: where a bundle came from, in document 004's words: source_type
//     zip, local or url, and source_ref.
//   - Hash: SHA-256 of the sorted paths and their contents' hashes. The same
//     files give the same hash however they were packed.
//   - Note: something that a person may want to know and that stops nothing,
//     such as a file that was left out.
//   - Error: a bundle that is refused, with a code.
//
// # What an archive may be
//
// Only regular files and folders, with portable names: UTF-8, /-separated,
// below the root, no name that Windows gives a meaning, no two that one system
// takes for the same. Names are judged and never mended. Modes are dropped, so
// nothing is executable. A toolset holds its manifest, README, LICENSE, NOTICE
// and CHANGELOG files, and the folders tools, artifacts and assets; tools holds
// text alone, and no compiled code is taken anywhere. Everything may lie in one
// folder, as GitHub and macOS pack; what macOS and Windows add by themselves
// (__MACOSX, .DS_Store, Thumbs.db, desktop.ini) is left out with a note.
//
// A ZIP must say one thing to every reader: entries lie side by side from the
// first byte to the directory, each local header agrees with its entry there,
// and nothing stands before, between or behind. Stored and deflated entries,
// data descriptors and ZIP64 fields are fine; encryption, other methods and
// comments are not. The one thing that may follow a ZIP is the signature block
// of an MCP bundle; it is not checked, and a note says so.
//
// A folder of one's own is read by the same rules, but what doesn't belong into
// a bundle (.git, tests, a Makefile) is left out with a note.
//
// # What is promised
//
//   - [Open] reads everything once: sizes, checksums and hashes hold before
//     anybody is asked to approve. Bounds are checked before what they bound is
//     read; a bomb costs what its directory costs.
//   - [Bundle.Extract] makes a new folder or none: it writes beside it, checks
//     each file against its hash once more, and renames at the end. What a
//     killed process leaves behind, [RemoveLeftovers] takes away.
//   - [Bundle.WriteZIP] gives the same bytes for the same files: fixed times,
//     order, modes and method. What it writes, Open takes.
//   - A download goes to public https hosts only (package netguard), is bounded
//     in bytes and time, and is kept in a temporary file until Close.
//
// A Bundle may be used by one goroutine at a time. It must be closed.
package bundle
