// Package store is the data directory as one type: chats and their messages, journals of
// turns, calls, payloads, documents, usage, the search index, snapshots of workspaces,
// locks and upkeep. It runs no turns, asks no model and starts no tool, so completion,
// doctor and backups use a [Store] alone; an engine is built over one.
//
// # Parts
//
//   - A turn's journal becomes records of its chat ([Store.Fold]) once the turn has ended;
//     what reads a chat folds first. [Store.Replay] reads the events of a turn from its
//     journal or from the tables.
//   - An [OpenChat] is a chat with the messages that a request to a model needs, in order.
//   - A [History] has the steps of a chat's folder, and says what undo and redo would change;
//     it changes no file.
//   - Removed chats stay for a time and are then purged; [Store.Upkeep] and the collection
//     remove what nothing refers to.
//   - An [Exchange] replaces the contents of a data directory by those of a backup, or
//     finishes one that a crash has cut off. The file of a backup is package backup's.
//
// # Promises
//
// A Store is safe for concurrent use, also by several processes on one directory. What a
// method has stored when it returns survives kill -9; a method that changes the store
// directly (not by a fold) also survives power loss. A damaged record is reported by name
// and left out of lists; it is never removed. Records that are too long are cut, with a
// mark and a notice. Errors are [fault.Fault], or the context's.
//
// # Locks
//
// The holder of one of these takes only those below it, so there is no deadlock. A search that
// embeds documents holds a token of its process before all of them; only such searches wait
// for it.
//
//  0. locks/data, shared: whatever changes the store or a file of the data directory
//     holds it for the whole of the change (hold.go). The restore of a backup takes it
//     alone. An Engine takes it once for all its operations that run at a time, so one
//     may be a part of another; nothing that holds it alone waits for a lock of 1 to 3,
//     so a part may take it with these held. Tests fail for a write without it. Only
//     locks/purge, locks/backup and locks/restore are taken before it: each is held by
//     one process that purges, makes a backup or restores one.
//  1. locks/chat-<id>: from reading the leaf to the end of a turn. A fork takes its new
//     chat's with the old one's held, which it releases when its journal names that
//     chat; no other process knows the new one. Deleting, importing and purging only
//     try it.
//  2. <turn>.lock, the turn's own: from before its acceptance to its end.
//  3. locks/ws-<hash>: while tools run in a folder of the user's, and while its state
//     is taken or restored; then gc.lock, shared, which a collection takes alone.
//  4. the fold lock: while journals go into the store. Those of other turns
//     are only tried with it, never waited for; to wait for a live turn, a
//     start holds nothing.
//  5. locks/catalog: while catalog.json is rewritten.
//  6. counter.lock: while numbers are given out.
//  7. the store (package kv), for one operation at a time. Nothing is waited
//     for within one.
//  8. the look lock, for some microseconds: its holder waits for nothing.
//
// Package toolset/registry has its own locks, which its documentation lists. They are
// taken with none of these held but locks/data, and only the store is taken below them.
//
// What is decided by the state of the store or the folder is read once the lock is
// held that keeps it from changing: what the collector needs, what a purge removes,
// what a restore replaces.
//
// Waits for 1 and 3 last as long as another's turn, end with the context, and are
// announced at once. The others are bounded: the fold lock and the store by ten
// seconds, the look lock by five, catalog and counter by fifteen. They become a notice
// after a second where the holder is a stopped process (Ctrl-Z), which is waited for
// up to ten minutes; its pid and command are in the notice and in the error.
package store
