package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

// A plan is what the files of a closed store say before Badger opens them.
type plan struct {
	level0 int   // tables that sessions left and nobody has merged
	middle int64 // bytes in the levels between those and the last one
	logs   []valueLog
	clean  bool // the last session closed, so that nothing is in a memtable's log alone
}

// inspect reads a closed store's manifest and checks its tables. Badger itself
// ends the program, or goes on without the table, for some of the damage that
// is found here. The caller holds the store's lock.
func (s *Store) inspect() (plan, error) {
	var p plan
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return p, &DirError{Dir: s.dir, Err: err}
	}
	if entries, err = s.sweep(entries); err != nil {
		return p, err
	}
	manifest, err := readManifest(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return p, s.mustBeNew(entries)
	}
	if err != nil {
		return p, &CorruptError{Dir: s.dir, File: filepath.Join(s.dir, badger.ManifestFilename), Err: err}
	}
	if n := len(manifest.Levels); n > 0 {
		p.level0 = len(manifest.Levels[0].Tables)
	}
	for id, t := range manifest.Tables {
		path := table.NewFilename(id, s.dir)
		merging := p.level0 >= mergeTables && t.Level < lastLevel
		size, err := checkTable(path, merging)
		if err != nil {
			return p, &CorruptError{Dir: s.dir, File: path, Err: err}
		}
		if t.Level > 0 && t.Level < lastLevel {
			p.middle += size
		}
	}
	p.clean = !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return filepath.Ext(e.Name()) == ".mem"
	})
	p.logs = valueLogs(s.dir, entries)
	return p, nil
}

// sweep removes empty logs. Badger makes and removes its logs in two steps, so a
// process that is killed in between leaves an empty one, and no later open
// accepts it. There is nothing in it to lose.
func (s *Store) sweep(entries []fs.DirEntry) ([]fs.DirEntry, error) {
	var kept []fs.DirEntry
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, &DirError{Dir: s.dir, Err: err}
		}
		ext := filepath.Ext(e.Name())
		if info.Size() > 0 || (ext != ".mem" && ext != ".vlog") {
			kept = append(kept, e)
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, e.Name())); err != nil {
			return nil, &DirError{Dir: s.dir, Err: err}
		}
	}
	return kept, nil
}

// mustBeNew accepts a folder without a manifest only if it holds no data:
// Badger would take the store for a new one and delete what it doesn't know.
func (s *Store) mustBeNew(entries []fs.DirEntry) error {
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".sst", ".vlog", ".mem":
			return &CorruptError{
				Dir: s.dir, File: filepath.Join(s.dir, badger.ManifestFilename),
				Err: fmt.Errorf("it is missing beside %s", e.Name()),
			}
		}
	}
	return nil
}

func readManifest(dir string) (badger.Manifest, error) {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return badger.Manifest{}, err
	}
	defer func() { _ = f.Close() }()
	m, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir).WithLogger(nil))
	return m, err
}

var errTable = errors.New("its index can't be read")

// checkTable verifies a table's index against its checksum, and where blocks
// is set every block too. It gives the table's size.
func checkTable(path string, blocks bool) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	index, err := readIndex(f, info.Size())
	if err != nil {
		return 0, err
	}
	if blocks {
		err = checkBlocks(f, fb.GetRootAsTableIndex(index, 0))
	}
	return info.Size(), err
}

// readIndex reads a table's index from its end: index, its length, checksum,
// its length.
func readIndex(f io.ReaderAt, size int64) ([]byte, error) {
	sum, end, err := readTail(f, size)
	if err != nil {
		return nil, err
	}
	index, _, err := readTail(f, end)
	if err != nil {
		return nil, err
	}
	return index, verify(index, sum)
}

// readTail reads the field that ends at end: its bytes, then their number in
// four bytes. It gives the field and where it begins.
func readTail(f io.ReaderAt, end int64) (field []byte, begin int64, err error) {
	var length [4]byte
	if end < 4 {
		return nil, 0, errTable
	}
	if _, err := f.ReadAt(length[:], end-4); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errTable, err)
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	begin = end - 4 - n
	if n == 0 || begin < 0 {
		return nil, 0, errTable
	}
	field = make([]byte, n)
	if _, err := f.ReadAt(field, begin); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errTable, err)
	}
	return field, begin, nil
}

func checkBlocks(f io.ReaderAt, index *fb.TableIndex) error {
	var offset fb.BlockOffset
	var block []byte
	for i := range index.OffsetsLength() {
		if !index.Offsets(&offset, i) {
			return errTable
		}
		n := int(offset.Len())
		if cap(block) < n {
			block = make([]byte, n)
		}
		block = block[:n]
		if _, err := f.ReadAt(block, int64(offset.Offset())); err != nil {
			return fmt.Errorf("read block %d: %w", i, err)
		}
		if err := checkBlock(block); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

// checkBlock verifies a block, which ends like a table: checksum, its length.
func checkBlock(block []byte) error {
	if len(block) < 4 {
		return errTable
	}
	at := len(block) - 4
	n := int(binary.BigEndian.Uint32(block[at:]))
	if n <= 0 || n > at {
		return errTable
	}
	return verify(block[:at-n], block[at-n:at])
}

func verify(data, sum []byte) error {
	var want pb.Checksum
	if err := proto.Unmarshal(sum, &want); err != nil {
		return fmt.Errorf("%w: %w", errTable, err)
	}
	if _, known := pb.Checksum_Algorithm_name[int32(want.Algo)]; !known {
		return errTable // Badger would panic
	}
	if err := y.VerifyChecksum(data, &want); err != nil {
		return errChecksum
	}
	return nil
}
