package kv

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

// A plan is what the files of a closed store say before Badger opens them, and
// what a session is to do about it.
type plan struct {
	clean  bool       // the last session closed in order: nothing is in a memtable's log alone
	level0 int        // tables that sessions left and nobody has merged
	middle int64      // bytes in the levels between those and the last one
	logs   []valueLog // smallest first
	merge  bool       // merge the tables of level 0 at the close
	push   bool       // empty the levels between
}

// inspect reads a closed store's manifest and checks its tables. Badger itself
// ends the program, or goes on without the table, for some of the damage that
// is found here. The caller holds the store's lock.
func (s *Store) inspect(need access) (plan, error) {
	var p plan
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return p, &DirError{Dir: s.dir, Err: err}
	}
	if entries, p.logs, err = s.sweep(entries); err != nil {
		return p, err
	}
	p.clean = closed(entries)
	manifest, err := s.readManifest(p.clean)
	if errors.Is(err, fs.ErrNotExist) {
		return p, s.mustBeNew(entries)
	}
	if err != nil {
		return p, &CorruptError{Dir: s.dir, File: s.file(badger.ManifestFilename), Err: err}
	}
	if err := s.mendRegistry(); err != nil {
		return p, err
	}
	return p, s.planTables(&p, manifest, need)
}

// planTables checks the tables and decides which are to be merged. Those are
// read whole first: a merge would carry damage on, or drop what it can't read.
func (s *Store) planTables(p *plan, manifest badger.Manifest, need access) error {
	var last int64
	for id, t := range manifest.Tables {
		size, err := s.checkTable(id, false)
		if err != nil {
			return err
		}
		switch t.Level {
		case 0:
			p.level0++
		case lastLevel:
			last += size
		default:
			p.middle += size
		}
	}
	p.merge = need == compacting || (need == writing && p.level0 >= mergeAfter(p.middle, last))
	p.push = need == compacting || (need == writing && p.middle > middleLimit)
	for id, t := range manifest.Tables {
		if !p.push && (!p.merge || t.Level == lastLevel) {
			continue
		}
		if _, err := s.checkTable(id, true); err != nil {
			return err
		}
	}
	return nil
}

// mergeAfter is how many unmerged tables are worth a merge. It rewrites the
// first level that isn't empty, if that is not the last one at its full size.
func mergeAfter(middle, last int64) int {
	rewritten := middle
	if middle == 0 && last <= middleLimit {
		rewritten = last
	}
	return mergeTables + int(rewritten/mergeWorth)
}

// checkTable gives the damage of a table as the store's error.
func (s *Store) checkTable(id uint64, blocks bool) (size int64, err error) {
	path := table.NewFilename(id, s.dir)
	if size, err = checkTable(path, blocks); err != nil {
		err = &CorruptError{Dir: s.dir, File: path, Err: err}
	}
	return size, err
}

// sweep removes empty logs. Badger makes and removes its logs in two steps, so a
// process that is killed in between leaves an empty one, and no later open
// accepts it. There is nothing in it to lose. It also gives the value logs, the
// smallest first.
func (s *Store) sweep(entries []fs.DirEntry) (kept []fs.DirEntry, logs []valueLog, err error) {
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if ext != ".mem" && ext != ".vlog" {
			kept = append(kept, e)
			continue
		}
		info, err := e.Info()
		if err == nil && info.Size() == 0 {
			err = os.Remove(s.file(e.Name()))
		} else if err == nil {
			kept = append(kept, e)
		}
		if err != nil {
			return nil, nil, &DirError{Dir: s.dir, Err: err}
		}
		if ext == ".vlog" && info.Size() > 0 {
			logs = append(logs, valueLog{path: s.file(e.Name()), size: info.Size()})
		}
	}
	slices.SortFunc(logs, func(a, b valueLog) int { return cmp.Compare(a.size, b.size) })
	return kept, logs, nil
}

// mustBeNew accepts a folder without a manifest only if it holds no data:
// Badger would take the store for a new one and delete what it doesn't know.
func (s *Store) mustBeNew(entries []fs.DirEntry) error {
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".sst", ".vlog", ".mem":
			return &CorruptError{
				Dir: s.dir, File: s.file(badger.ManifestFilename),
				Err: fmt.Errorf("it is missing beside %s", e.Name()),
			}
		}
	}
	return nil
}

// mendRegistry removes a damaged list of encryption keys. It holds 16 random
// bytes and a fixed text, since nothing here is encrypted; Badger refuses a
// damaged one and makes a missing one anew.
func (s *Store) mendRegistry() error {
	const skip, text = 16, "Hello Badger"
	path := s.file(badger.KeyRegistryFileName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(content) == skip+len(text) && string(content[skip:]) == text) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return &DirError{Dir: s.dir, Err: err}
	}
	return nil
}

// sealName is a file that says that the last session closed in order, and how
// long the manifest was then. Badger reads a manifest up to the first entry
// that it can't, and deletes the tables that it doesn't find in it: right after
// a crash, which can tear the last entry, and the end of the data in any other
// case. The seal tells the two apart.
const sealName = "SEAL"

// readManifest lists the store's tables.
func (s *Store) readManifest(sealed bool) (badger.Manifest, error) {
	f, err := os.Open(s.file(badger.ManifestFilename))
	if err != nil {
		return badger.Manifest{}, err
	}
	defer func() { _ = f.Close() }()
	m, end, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(s.dir).WithLogger(nil))
	if err != nil || !sealed {
		return m, err
	}
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	if end < info.Size() || end < s.sealed() {
		return m, fmt.Errorf("it breaks off after %d bytes", end)
	}
	return m, nil
}

// closed tells whether the last session closed in order. A power cut may bring a seal
// back that was removed before the store changed, but a close leaves no memtable's log.
func closed(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == sealName }) &&
		!slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".mem" })
}

// sealed reads the seal: the length of the manifest, or 0 where it says none.
func (s *Store) sealed() int64 {
	text, err := os.ReadFile(s.file(sealName))
	if err != nil {
		return 0
	}
	size, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return size
}

// seal writes the seal of a store that has just been closed. Without one the
// store is taken to have crashed, which is true for what it can't write.
func (s *Store) seal() {
	if info, err := os.Stat(s.file(badger.ManifestFilename)); err == nil {
		_ = os.WriteFile(s.file(sealName), strconv.AppendInt(nil, info.Size(), 10), 0o600)
	}
}

// unseal removes the seal before the store changes.
func (s *Store) unseal() error {
	if err := os.Remove(s.file(sealName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &DirError{Dir: s.dir, Err: err}
	}
	return nil
}

// file is the path of one of the store's files.
func (s *Store) file(name string) string { return filepath.Join(s.dir, name) }

var errTable = errors.New("its index can't be read")

// checkTable verifies a table's index against its checksum, and the last block,
// which Badger reads at the open and would panic over. Where blocks is set it
// verifies them all. It gives the table's size.
func checkTable(path string, blocks bool) (size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size = info.Size()
	return size, guard(func() error { return checkIndexed(f, size, blocks) })
}

// checkIndexed verifies the index and the blocks that it leads to.
func checkIndexed(f io.ReaderAt, size int64, blocks bool) error {
	index, err := readIndex(f, size)
	if err != nil {
		return err
	}
	root := fb.GetRootAsTableIndex(index, 0)
	first := root.OffsetsLength() - 1
	if blocks {
		first = 0
	}
	return checkBlocks(f, size, root, first)
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

// checkBlocks verifies a table's blocks from the first-th on.
func checkBlocks(f io.ReaderAt, size int64, index *fb.TableIndex, first int) error {
	var offset fb.BlockOffset
	var block []byte
	if first < 0 {
		return errTable
	}
	for i := first; i < index.OffsetsLength(); i++ {
		if !index.Offsets(&offset, i) {
			return errTable
		}
		n := int(offset.Len())
		if int64(n) > size {
			return errTable
		}
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
