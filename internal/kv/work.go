package kv

import "sync/atomic"

// Work counts what a store has done for its operations since it was opened.
// Tests compare it at two sizes of a store: the cost of an operation shows
// there without a clock.
type Work struct {
	// Gets is how many keys were looked up, and Steps how many entries
	// iterators have come to.
	Gets, Steps int64
	// Writes is how many entries were written or removed, and Bytes the size
	// of their keys and values.
	Writes, Bytes int64
	// Opens is how often the database was opened.
	Opens int64
}

// Reads returns the sum of look-ups and steps.
func (w Work) Reads() int64 { return w.Gets + w.Steps }

// Since returns what was done after an earlier count.
func (w Work) Since(earlier Work) Work {
	return Work{
		Gets: w.Gets - earlier.Gets, Steps: w.Steps - earlier.Steps,
		Writes: w.Writes - earlier.Writes, Bytes: w.Bytes - earlier.Bytes, Opens: w.Opens - earlier.Opens,
	}
}

// workCount is Work while it is counted.
type workCount struct{ gets, steps, writes, bytes, opens atomic.Int64 }

// wrote counts one entry.
func (w *workCount) wrote(size int) {
	w.writes.Add(1)
	w.bytes.Add(int64(size))
}

// Work returns what the store has done so far. Entries of an Update that
// failed are counted too.
func (s *Store) Work() Work {
	return Work{Gets: s.work.gets.Load(), Steps: s.work.steps.Load(), Writes: s.work.writes.Load(), Bytes: s.work.bytes.Load(), Opens: s.work.opens.Load()}
}
