// Package cas keeps the states of workspaces: what every file, link and folder was at one
// moment, so that any state can be restored. It does not depend on turns and tools; the engine
// decides when a state is taken and what it belongs to.
//
// It is not a backup: what it keeps is on the same disk. It is not git: nothing
// is merged, and no repository is read or written. It takes no lock on a folder
// against other programs, and never watches one.
//
// # Vocabulary
//
//   - Blob: the bytes of a file. Its name is its SHA-256.
//   - Tree: the entries of one folder. Its name is the SHA-256 of its encoding, so equal
//     folders are one tree, and the root's digest identifies all files.
//   - State: a root tree. Manifest: the record of a state, with the chat and what
//     made it.
//   - Snapshot: taking a folder's state. Restore: giving a folder a state, by
//     [Store.Materialize].
//   - Stat cache, index: what each file's stat was when its digest was taken.
//   - Stage: a folder in which a restore prepares, at a workspace's root and at the root of
//     each mount below it in which something is going to be moved.
//   - Epoch: the time between two collections that removed something.
//   - Layer: the upper folder of an overlay, in which a call's changes are collected.
//     Lower: the workspace under it, which the call does not write.
//   - Landing: bringing the changes of a layer into the workspace.
//
// # Use
//
// A tool call is bracketed so:
//
//	before, err := store.Snapshot(ctx, ws, cas.SnapshotOptions{
//		About: cas.About{ChatID: chat, Source: cas.External}, Parent: active})
//	// run the tool
//	after, err := store.Snapshot(ctx, ws, cas.SnapshotOptions{
//		About: cas.About{ChatID: chat, Source: cas.ToolRun, SourceRef: call}, Parent: before.Manifest})
//
// If nothing has changed, a snapshot records nothing and returns its parent. To undo the call
// is store.Materialize(ctx, ws, before.Manifest, …) with the chat's current manifest as Active.
//
// A call over an overlay needs no snapshot:
//
//	meta, err := cas.NewLayer(layer, ws, cas.LayerMeta{ChatID: chat, CallID: call, ManifestID: active.ID})
//	// mount the overlay, run the tool, wait for its last process, unmount
//	plan, err := store.ReadLayer(ctx, ws, layer, cas.LayerOptions{ChatID: chat, Parent: active})
//	// show plan.Changes, if the user is asked
//	landing, err := store.Land(ctx, ws, plan, cas.LandOptions{
//		About: cas.About{ChatID: chat, Source: cas.ToolRun, SourceRef: call}, Parent: active})
//	err = cas.DropLayer(layer)
//
// # What is kept
//
// Content, names as raw bytes, links as links, the twelve permission bits of files and
// folders, empty folders. A restore gives exactly the recorded bits, and never wider ones
// meanwhile. Setuid and setgid of a file are recorded only where the file has the user
// and the group of this process, which restored files get; a restored import sets neither.
// On Windows, and in states of older programs, no bits are recorded: they count as equal
// to any, and a restored file takes those over of the file that it replaces. Not kept are
// owners, the bits of the workspace's own folder, times, extended attributes, and where a
// file has holes, though long runs of zeros take no room. Sockets, FIFOs and devices are entries without content. A file that
// can't be read, that changed during each of three readings, or that is larger
// than [Limits.MaxFile] is a Failed entry with the reason, and its manifest isn't
// Complete. A restore leaves all those alone.
//
// A state shows which names in the workspace are one file (hard links). That is not a change
// by itself: [Store.Diff] compares contents and permission bits. A restore that writes one of
// these names links it to the others, if it writes these, too, or they have what the state
// has; where the file system has no hard links each name gets a file of its own. Names outside
// of the workspace are not looked for. They keep what they have: a restore and a landing write
// new files and never into the old one.
//
// In a bound folder `.git` is never read or written; what .fettleignore names, and what can
// certainly be made again, is an Omitted entry, which a restore doesn't touch: see ignore.go.
// A file that marks a folder as made by a program leaves out no folder that the state before
// has with something in it, and no rule hides what the state to be restored has: see omit.go.
// In a managed one everything is content.
//
// # Change detection
//
// A file is read again unless size, times of modification and change, inode and permissions are
// those that were noted with its digest. A digest is trusted only if the file had been quiet
// for 20 ms when it was read (2 s where timestamps are whole seconds), or was read again,
// unchanged, that much later; on network file systems, whose clock isn't ours, only the latter.
// By the same rule a folder isn't listed again whose own times and inode are as they were, on
// ext4, XFS, Btrfs, F2FS and tmpfs alone; each name in it is checked all the same, and if one
// no longer exists the folder is listed. Systems without a time of change (Windows) don't show
// an edit of the same size that also restores the time of modification. A program that writes
// through a mapping which was dirty before shows nothing until the kernel writes it back.
// A landing in a process that has not read the cache yet reads only the records of the folders
// that its call changed, and of those above them; a snapshot reads all of them.
// [Store.Forget] drops the cache; so does a fault in it, another folder under the same path,
// and, for what was collected, another epoch.
//
// # Formats
//
// A tree is "ftree", a version byte, the number of entries, and the entries sorted by name: a
// kind byte (f, x, l, d, s, e, o), the name, and for f and x digest and size, for d the digest,
// for e reason and size, for l the target, for s and o a text. In version 2, which a tree has if
// permission bits are recorded of one entry at least, those of f, x and d follow: 0 for none, or
// 4096 plus the bits. All others but those of version 3 are version 1, as are all trees of older programs. Numbers are
// varints in their shortest form, each text is preceded by its length. In version 3, which a tree
// has if a file in it has other names, the bits are followed, for f and x, by a text: empty, or 16
// bytes of a digest of the paths of all names. There is one encoding of a folder, and reading
// takes no other.
//
// Old trees had no bits, so the first snapshot of a folder by this program records a state with
// other trees, of which [Store.Diff] yields no change. A version in which usual bits are implied
// would have kept the digests of most folders, but it could not distinguish 0644 from bits that
// were not recorded, and a restore would have opened private files.
//
// Blobs up to 1 MB, and trees, are records of the store (tables "blobs" and
// "trees"; a blob's first byte is its encoding: 0, as it is). Larger ones are
// files blobs/ab/SHA256 in the data directory, where a tree of more than 8 MB is
// one too. Manifests are the table "workspace_manifests" with document 004's
// columns; `files` is [Store.WriteFiles], what isn't a plain file is
// [Store.WriteEntries], and paths in both are escaped by [EscapePath]. The stat
// cache is the table "stat_cache", a record a folder and one of its last edits,
// see cache.go. The journal of a restore is a record
// of the table "workspace_restores"; blobs/epoch names the epoch.
//
// An export is a gzipped tar of format.json ({"format":"fettle-history",
// "version":1}), extra/NAME, then for each state what it reaches, blobs/SHA256
// and trees/SHA256, each tree after what it names, then manifests.jsonl, and
// end.json with the counts. What is imported gets new ids; what it follows, and the
// state of the folder that it comes into, are the caller's.
//
// # Durability
//
// A Snapshot that has returned is safe from a power cut, by one sync at its end. Large
// contents, which are files, are on the disk before it is recorded: the folder of one
// that is found is synced, too, since its maker may have been killed before that. Small ones and trees
// are written to the store before the manifest that needs them, and a store has after a
// power cut what was written up to some moment, and nothing later. A failed or killed one
// leaves contents that no state reaches. A plan that does not land leaves such contents, too.
//
// A restore reads the folder, writes a journal, puts everything new into stages, exchanges
// names, and then the stages go. What is below a mount point has its stage in that mount, since
// no name can be moved to another mount; the journal names that stage before it is made. A
// read-only mount, one whose top folder cannot be written to, and a mount point that would have
// to go are reported by the plan. The journal goes to the disk while the plan is made, in one
// step with the manifest that the restore is recorded as where all becomes as another one has
// it, and exists before the stage: until all is done that manifest is not shown. An error takes
// all back, the manifest too; after a crash the next Snapshot, Materialize or Recover of the
// folder does, from what is in the stage and the store, and reports it by Options.OnRecover. A
// Plan and [Store.Look] leave the folder as it is; [Store.ForgetRestores] is for a store that
// is a copy. Whatever is found then is stored as a separate state first (source "interrupted"),
// and a path that has been changed since stays as it is. Workspace files are not synced: the
// store has their bytes.
//
// # Landings
//
// [Store.ReadLayer] trusts nothing in a layer: it follows no link, bounds names, depth and
// attributes, ignores FIFOs, sockets and devices, and refuses attributes that only the kernel
// sets. The device 0/0 is a removal; the attribute user.overlay.opaque marks a folder that
// replaces what the workspace has. Entries that were copied into the layer and not changed
// are dropped.
//
// A path lands if the workspace still has what the call saw. Such an entry has a time of change
// before the mount, which NewLayer takes from the file system's own clock; or it equals what was
// known before the call: the stat cache, or the state LayerMeta.ManifestID where the cache is
// newer. A folder that was moved to another path does not show in the times of what is in it, so
// these count only where the folder is older than the mount too, or has its inode of before. If
// the clock was set since the mount, and on network file systems, only the known content counts.
// Everything else is a [Conflict], unless both sides have the same: the workspace keeps what it
// has, and the state Landing.Call has the call's version. The files that a call only read are
// not known.
//
// A landing is a restore whose target is the last known tree with the call's changes: it
// reads only what the layer names, stores what it replaces, and has the same journal, stage and
// exchange of names. It differs in two ways. A path that the user changes at the last moment
// is put back and becomes a conflict, and the rest lands; a folder that the call replaced, and the
// names of one new file, land together or not at all. And content comes from the store or is
// copied from the layer, never moved out of it: a landing that is cut short is reverted, as a
// restore is, and the caller still has the layer. It is not completed instead, since its call has
// no result that the chat has recorded: the user decides once, about all of the call's changes.
// Renaming 10,000 files out of the layer would save a quarter of the time.
//
// What states leave out (node_modules, files over the limit) lands, too. No tree has it, so the
// stage lists those paths with the inodes of their new files, synced before the first
// exchange, and a landing that is cut short is reverted by that list. Their times of change
// are newer after that: a second landing reports them as conflicts. A conflict of such a path
// is only in the layer; its Call is a Failed entry.
//
// A program that has a file open while its name is exchanged continues to write to the old
// file. A file of the workspace with several names gets a new file. If the workspace has all of
// the names and the call wrote one, the new file has all of them; otherwise it has the one name
// that the call wrote, and the landing reports that the others keep the old content. A layer
// does not show whether the call wrote into the file or renamed another one to the name.
//
// Names that a call linked are one file afterwards. If the workspace has the file unchanged
// under one of them, the others become names of that file, as they would without the layer;
// otherwise, also where the user changed it meanwhile, they share a new file. Two files of the
// workspace with the same content that a call made one file stay two, since that is not a change.
//
// # Concurrency
//
// A Store may be used by many goroutines and processes. Operations on one folder take turns
// within a Store; between processes the caller sees to it, by a lock of the workspace.
// Snapshots, restores, exports and imports hold locks/gc.lock shared, from the first look at
// what the store has to the record that needs it; [Store.GC] takes it alone, so it never
// encounters a content that is needed and not yet recorded.
//
// Other programs may write to the folder at any time. No operation follows a link: every folder is
// opened beneath the root, name by name. Before a restore discards what it replaces or removes,
// it checks that, after having moved it away; what isn't as planned is put back and the restore
// with it. Where two names can't be exchanged in one step (anything but Linux) there is a
// moment in which a replaced file has no name.
//
// # Limits
//
// A name of 1 KB, a path of 8,000 bytes, 1,000 folders deep: what lies beyond is
// a Failed entry. A folder of 64 MB of names. Memory grows with the number of
// files, by some 200 bytes each, and never with their size.
package cas
