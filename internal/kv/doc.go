// Package kv keeps fettle's records: typed tables with indexes in one Badger directory that
// several processes share. It is the only package that uses Badger; no type of Badger's appears
// in what it exports.
//
// It is not a general database: there are no queries beyond ranges and
// indexes, no joins, and one writer at a time. It is not for large bytes
// either: a value is whole in memory, and above [MaxValue] it is refused.
//
// # Vocabulary
//
//   - Store: a database by its folder. [Open] only names it and opens nothing.
//   - Operation: one View, Update, Batch flush, Sync, Verify, Compact or Reclaim.
//   - Session: the time in which a Store has the database open. Operations
//     that follow each other closely share one.
//   - Key: a tuple of strings and integers, see [Key] for its order.
//   - Table: a declaration of records of one type: name, primary key, indexes
//     and version. It is made once and used with any transaction.
//   - Generation: a number that changes when another process has written.
//
// # Use
//
// Declare the tables once, next to the types:
//
//	chats := kv.NewTable("chats", func(c *Chat) kv.Key { return kv.Str(c.ID) },
//		kv.UniqueOn("number", func(c *Chat) kv.Key { return kv.Int(c.Number) }),
//		kv.On("updated", func(c *Chat) kv.Key { return kv.Int(c.Updated.UnixMilli()) }))
//	messages := kv.NewTable("messages", func(m *Message) kv.Key { return kv.Str(m.ChatID).Str(m.ID) })
//
// and pass them transactions:
//
//	err := store.UpdateSync(ctx, func(tx *kv.Tx) error {
//		chat, err := chats.Find(tx, "number", kv.Int(12))
//		if err != nil {
//			return err // kv.ErrNotFound
//		}
//		return messages.Put(tx, &Message{ChatID: chat.ID, ID: id})
//	})
//
// The messages of a chat are messages.Scan(tx, kv.Range{Prefix: kv.Str(chat.ID)});
// the ten chats that changed last are
// chats.IndexPage(tx, "updated", nil, kv.Range{Reverse: true, Limit: 10}), whose
// Next goes into the After of the following page. The package's example runs.
//
// # Sharing between processes
//
// Badger locks its folder, so processes take turns. A Store holds the database for one
// operation; when it ends and another process waits, it releases the database at once, else
// after 100 ms without a further one, unless [Store.KeepOpen] is in force. Waiting processes
// are in a queue (see queue.go) and are served in the order in which they came. If its turn
// comes no nearer for [Options.Wait] the operation fails with a [BusyError]. So a function that is passed to an operation must be
// quick, two seconds at the very most: no network, no model, no waiting for the user. With
// [Options.Hold] the database stays open until Close, and other processes get BusyErrors, but
// for the time in which [Store.Share] has it take turns like any other.
//
// An operation must not be started within another one of the same Store: the inner one might
// wait for the outer one's session to close, and would end in a BusyError with this process's
// own pid. A [Batch] holds nothing while its function runs, so there View is allowed. While
// this process itself opens or closes the database, other operations of the Store wait for
// that, and not for [Options.Wait]; a close that does not end is a separate error.
//
// The database of a store that closed in order is opened for reading alone if
// an operation only reads, which takes a millisecond instead of ten.
//
// # Concurrency
//
// A Store may be used by many goroutines. Views run side by side. Updates of a
// Store run one after the other, and other processes are kept out meanwhile:
// an Update sees the work of all before it, its function runs exactly once, and
// there are no conflicts to retry. A Tx belongs to its function and goroutine
// and ends with the function; iterators that are used later yield [ErrTxDone].
//
// # Durability
//
// An Update that has returned survives kill -9 of this process. It survives a power cut once
// [Store.Sync] has returned, or any close of the session, or the Update itself if it was an
// UpdateSync. A sync writes the memtable's log to the disk, and the value log, too, if anything
// went there since; what filled up before is waited for. On Linux the logs have blocks in front
// of their ends, so that a small sync needs no commit of the file system's journal, see
// preallocate_linux.go.
//
// After a power cut the store has a prefix of its Updates, in the order in which they returned,
// of all processes: each of them whole or not at all, and at least those that a sync has
// covered. So a record that names others needs no sync between them and itself: they are put by
// an earlier Update, or the same, and one UpdateSync at the end is enough. That it is so takes
// three things. When a store wasn't closed in order and the system was restarted since, its
// logs are cut before the first Update of which a value is missing, see recover.go. Before a
// memtable becomes a table, or another one is begun after it, both logs are synced, see
// memtable_sync.go. And what a killed process has left is synced before more is written. It holds for
// what the system and the disk bring to the disk when they are asked to, and not where a disk
// is pulled out of a system that keeps running: that looks like a process that was killed.
//
// An error of a close after which earlier writes may not be safe from a power cut is returned
// once, by Sync, LetGo or Close. The writes are in logs that the next session reads and syncs,
// so later Syncs have them on the disk or fail. What a session could not merge or remove is not
// such an error: a later session does it.
//
// "Write, Sync, then unlink" is UpdateSync or BatchSync, then unlink. An Update is
// atomic with its index entries. A Batch is not atomic as a whole, each of its writes
// is.
//
// # Limits of an Update
//
// About 1.2 MB of keys and of values up to 1 KB, or 10,000 entries, where a
// record is one entry and each of its index keys another; larger values count
// little, but 64 MB of them is the end. Past that it fails with a
// [TooBigError] and nothing is kept. Larger writes that may be repeated are for
// Batch, which has no limit.
//
// # Versions
//
// A newer program's store ([Options.Schema]) or table ([Table.Versioned]) is refused with a
// [VersionError] instead of being misread. A program may read a table of an older version, and
// marks it as newer with its first write to it. An index that is added, or whose function
// changes and which therefore has a new name, must be built by [Table.Reindex]; until then it
// returns an [IndexError] rather than half a list.
//
// # Damage
//
// Every value carries a checksum and is checked when it is read, and so are the manifest, each
// table's index and its last block when the database is opened, and every block before it is
// merged: a [CorruptError] names the file or the record. A store that was closed in order has a
// seal, which describes the tables that were checked then: of those an opening reads the last
// block and the footer, and leaves the index to Badger, which verifies it as it opens the table
// (see seal.go). A block of a table that was damaged afterwards can hide keys from reads, since
// Badger counts what it can't read as absent; [Store.Verify] reads everything and finds it. A
// crash is not damage: what it leaves is mended. After a power cut a value that didn't get to
// the disk can't be distinguished from one that was damaged there since, so among the last
// writes before it the one counts as the other.
//
// # Why so
//
// Serial updates: Badger would run them side by side and fail one of two that
// meet, but it doesn't see a range that was read, so that two Updates could
// both find the same next number free. An Update takes 40 µs.
//
// Upkeep by sessions: Badger tidies in the background, beginning up to a second
// after an open; sessions of milliseconds never get there, and 600 of them left
// 600 value logs and a close of 57 ms. So each session does a small share when
// it closes, see tidy.go.
//
// Full disks: Badger writes through mapped sparse files, and a page that the disk has no room
// for ends the process with SIGBUS. So the logs get their blocks before each write, and before
// each opening, merge and close the disk is checked for room for their tables. A fault in a
// goroutine of the caller is a [FullError] or a [DirError].
//
// A fault in a goroutine of Badger's own ends the process with Go's exit status 2 and a stack
// trace: debug.SetPanicOnFault holds for one goroutine, and Badger has no hook in its own.
// Three cases remain. Another program fills the disk within the milliseconds between a check
// and the writing of a table, in a merge or at a close. The disk can't read (EIO) the index of
// a table of a sealed store, which Badger reads through a map as it opens the store; without a
// seal the index is read by a read call first, and is a [CorruptError]. The disk can't read a
// block that a merge reads, although the check before the merge has read it, since the system
// has dropped the page in between. Nothing that was acknowledged is lost in any of them: it is
// in tables or in logs that the next opening reads. [Store.Verify] uses read calls for tables
// and names the file.
package kv
