// Package journal keeps the append-only files of turns that are not in the store yet: one file
// a turn, one JSON value a line. The first line is the acceptance (the question and its chat),
// each further line one event.
//
// A journal is not a log for people and not an archive: it exists from a turn's acceptance
// until a process that has the store open has folded it in.
//
// # Files
//
//	<turn>.jsonl       the journal
//	<turn>.jsonl.new   one that is being made; no client knows it yet
//	<turn>.lock        held by the turn's owner, and by the process that folds it
//	<turn>.jsonl.damaged  one that could not be read to its end, or not be stored; kept for the user
//	fold, look         locks of the folder: see below
//	../counter.json    the numbers that were given out, with counter.lock
//
// # Durability and concurrency
//
// Create makes the file under its temporary name with its lock held; Publish syncs it, renames
// it into place and syncs the folder. A kill before Publish leaves a temporary file that Sweep
// removes, which no client was told of. Append is one write: what it wrote survives a kill of
// the process, and the loss of power once Sync has returned. A write that fails, on a full disk
// say, is reverted as a whole. A last line that was torn is dropped by readers; anything else
// that is not the turn's next event is ErrDamaged, and what was read before it is as it was
// written. A Writer belongs to one goroutine; Sync may run concurrently with Append, and so may
// Publish.
//
// Claim takes the lock of a finished or abandoned journal. It checks that the
// name is still the locked file, so two folders never fold one journal at
// once, and one that was folded meanwhile is not claimed at all. The claimer
// writes what it read somewhere durable, and only then calls Remove.
//
// Whether a turn is live is determined by trying its lock. A try holds the lock for a moment,
// and another process would take that for an owner, so every try is made with the look lock
// held. A claim is held for longer; a claimer first takes the fold lock, so that a journal that
// it can't claim is live, and none is missed that another process is just folding.
package journal
