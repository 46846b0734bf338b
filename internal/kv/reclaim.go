package kv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

const (
	// sampledBlocks and sampledValues are how many places of all tables, and of
	// one value log, are looked up to estimate which share is dead. The estimate
	// is off by at most two percent.
	sampledBlocks = 2000
	sampledValues = 500
	// worthTables is the share of the tables that must be dead before all of them
	// are rewritten: one in worthTables.
	worthTables = 8
)

// waste is an estimate of what a rewriting of the store would free.
type waste struct {
	tables, dead int64    // bytes of the sampled blocks, and of those that are dead
	logs         []string // the value logs of which at least half is dead
}

func (w *waste) inTables() bool { return w.dead > 0 && w.dead*worthTables >= w.tables }

// Reclaim returns the space of records that were replaced, removed or have
// expired to the file system, where that is worth the rewriting: the tables if an
// eighth of them is dead, a value log if half of it is. It finds this out from a
// sample, whose cost depends on the number of files and large values, not on their
// bytes. starting is called before the first file is rewritten; it may be nil.
// Otherwise Reclaim acts as [Store.Compact] does.
func (s *Store) Reclaim(ctx context.Context, starting func()) error {
	w, err := s.waste(ctx)
	if err != nil {
		return err
	}
	need := writing
	if w.inTables() {
		need = compacting
	} else if len(w.logs) == 0 {
		return nil
	}
	if starting != nil {
		starting()
	}
	return s.rewrite(ctx, need, func(l valueLog) bool { return slices.Contains(w.logs, l.path) })
}

// waste estimates how much of the store is dead.
func (s *Store) waste(ctx context.Context) (*waste, error) {
	sess, err := s.enter(ctx, reading)
	if err != nil {
		return nil, err
	}
	defer s.leave(sess)
	txn := sess.db.NewTransaction(false)
	defer txn.Discard()
	w := new(waste)
	if err := w.addTables(ctx, s.dir, sess.db.Tables(), txn); err != nil {
		return nil, s.fault("look for free space in", err)
	}
	for _, l := range sess.plan.logs {
		if slices.Contains(sess.dead, l.path) {
			continue
		}
		dead, err := l.halfDead(ctx, txn)
		if err != nil {
			return nil, s.fault("look for free space in", err)
		}
		if dead {
			w.logs = append(w.logs, l.path)
		}
	}
	return w, nil
}

// addTables samples the tables by the first keys of their blocks, which their
// indexes contain: no block is read for it.
func (w *waste) addTables(ctx context.Context, dir string, tables []badger.TableInfo, txn *badger.Txn) error {
	var bytes int64
	for _, t := range tables {
		bytes += int64(t.OnDiskSize)
	}
	step, at := max(bytes/sampledBlocks, 1), int64(0)
	for _, t := range tables {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sample tables: %w", err)
		}
		index, err := tableIndex(table.NewFilename(t.ID, dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue // Badger has merged it meanwhile
		}
		if err != nil {
			return err
		}
		root := fb.GetRootAsTableIndex(index, 0)
		n := root.OffsetsLength()
		// The first block of a table starts with a mark that each session replaces.
		for i := min(1, n-1); i < n; i++ {
			var block fb.BlockOffset
			if !root.Offsets(&block, i) {
				return errTable
			}
			size := int64(block.Len())
			if at += size; at < step {
				continue
			}
			at %= step
			dead, err := superseded(txn, y.ParseKey(block.KeyBytes()), y.ParseTs(block.KeyBytes()))
			if err != nil {
				return err
			}
			w.tables += size
			if dead {
				w.dead += size
			}
		}
	}
	return nil
}

// tableIndex reads the index of a table, which is checked.
func tableIndex(path string) (index []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	err = guard(func() error {
		index, _, err = readIndex(f, info.Size())
		return err
	})
	return index, err
}

// superseded reports whether a version of a key is not what a read returns.
func superseded(txn *badger.Txn, key []byte, version uint64) (bool, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return true, nil
	}
	return err == nil && item.Version() != version, err
}

// halfDead reports whether about half of a log's bytes or more are dead. It reads
// the heads of the entries and no values, and looks up those entries that contain
// one of sampledValues places at equal distances. A log that can't be read is
// reported as alive: finding damage is for [Store.Verify].
func (l valueLog) halfDead(ctx context.Context, txn *badger.Txn) (bool, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	step := max(l.size/sampledValues, 1)
	var places, dead int64
	for at, next := int64(logHeader), int64(logHeader); ; {
		head, err := readHead(f, at)
		if errors.Is(err, io.EOF) {
			return places > 0 && 2*dead >= places, nil
		}
		if err != nil {
			return false, nil
		}
		at += head.length
		if at <= next {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, fmt.Errorf("sample %s: %w", l.path, err)
		}
		n := (at - next + step - 1) / step
		next += n * step
		gone, err := superseded(txn, head.key, head.version)
		if err != nil {
			return false, err
		}
		places += n
		if gone {
			dead += n
		}
	}
}

// readHead reads the entry at an offset of a value log, without its value and
// its checksum. The error is io.EOF at the end of the log only.
func readHead(f io.ReaderAt, at int64) (e logEntry, err error) {
	var short [256]byte // the longest head has 22 bytes, and most keys are below 200
	n, err := f.ReadAt(short[:], at)
	if n == 0 {
		return e, err
	}
	buf := short[:n]
	if len(buf) < 2 {
		return e, errLog
	}
	rest := buf[2:]
	var fields [3]uint64 // key length, value length, expiry
	for i := range fields {
		v, used := binary.Uvarint(rest)
		if used <= 0 {
			return e, errLog
		}
		fields[i], rest = v, rest[used:]
	}
	if fields[0] < 8 || fields[0] > 1<<16 || fields[1] > logSize {
		return e, errLog
	}
	head := int64(len(buf) - len(rest))
	key := make([]byte, fields[0])
	if copy(key, rest) < len(key) {
		if _, err := f.ReadAt(key, at+head); err != nil {
			return e, errLog
		}
	}
	e.key, e.version, e.size = y.ParseKey(key), y.ParseTs(key), int64(fields[1])
	e.length = head + int64(len(key)) + e.size + 4
	return e, nil
}
