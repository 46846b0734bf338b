package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

var errTable = errors.New("its index can't be read")

// tableSum is what is known of a table that was checked: enough to see, by reading a
// few bytes, that nothing which Badger needs has changed since. Badger itself compares
// the index, in the middle, with its checksum, which is in the footer.
type tableSum struct {
	id     uint64
	level  uint8
	size   int64
	block  int64  // where the last block begins, which Badger reads as it opens the table
	length int64  // of the last block
	footer int64  // where the fields after the index begin
	sum    uint32 // of the last block and the footer
}

// sumLimit bounds what of a table is read to see that it is the one that was checked. A
// block has 4 KB, and what the largest key and value below valueThreshold add to it.
const sumLimit = 64 << 10

// read reads the last block and the footer, and returns their sum.
func (t *tableSum) read(f io.ReaderAt) (uint32, error) {
	n := t.size - t.footer
	if t.block < 0 || t.length < 0 || n < 0 || t.length+n > sumLimit {
		return 0, errTable
	}
	buf := make([]byte, t.length+n)
	if _, err := f.ReadAt(buf[:t.length], t.block); err != nil {
		return 0, fmt.Errorf("read the last block: %w", err)
	}
	if _, err := f.ReadAt(buf[t.length:], t.footer); err != nil {
		return 0, fmt.Errorf("%w: %w", errTable, err)
	}
	return checksum(nil, buf), nil
}

// unchanged reports whether a table is still as it was when it was summed.
func (s *Store) unchanged(t *tableSum) bool {
	f, size, err := s.openTable(table.NewFilename(t.id, s.dir))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	sum, err := t.read(f)
	return err == nil && size == t.size && sum == t.sum
}

// checkTable is the function checkTable with the store's error.
func (s *Store) checkTable(id uint64, blocks bool) (t tableSum, err error) {
	path := table.NewFilename(id, s.dir)
	f, size, err := s.openTable(path)
	if err == nil {
		t, err = checkTable(f, size, blocks)
		_ = f.Close() // it was only read
	}
	if err != nil {
		return t, &CorruptError{Dir: s.dir, File: path, Err: err}
	}
	t.id = id
	return t, nil
}

// tableFile is a table's file as the checks read it.
type tableFile interface {
	io.ReaderAt
	io.Closer
}

// openTable opens a table to check it.
func (s *Store) openTable(path string) (f tableFile, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	if s.reads != nil {
		return s.reads(file), info.Size(), nil
	}
	return file, info.Size(), nil
}

// checkTable verifies a table's index against its checksum, and the last block,
// which Badger reads at the open and would panic over. Where blocks is set it
// verifies them all.
func checkTable(f io.ReaderAt, size int64, blocks bool) (t tableSum, err error) {
	err = guard(func() error {
		t, err = checkIndexed(f, size, blocks)
		return err
	})
	return t, err
}

// checkIndexed verifies the index and the blocks that it leads to.
func checkIndexed(f io.ReaderAt, size int64, blocks bool) (tableSum, error) {
	t := tableSum{size: size}
	index, end, err := readIndex(f, size)
	if err != nil {
		return t, err
	}
	root := fb.GetRootAsTableIndex(index, 0)
	last := root.OffsetsLength() - 1
	first := last
	if blocks {
		first = 0
	}
	if err := checkBlocks(f, size, root, first); err != nil {
		return t, err
	}
	var offset fb.BlockOffset
	if !root.Offsets(&offset, last) {
		return t, errTable
	}
	t.block, t.length, t.footer = int64(offset.Offset()), int64(offset.Len()), end
	if t.length+size-end > sumLimit {
		return t, nil // it is checked by each opening
	}
	t.sum, err = t.read(f)
	return t, err
}

// readIndex reads a table's index from its end: index, its length, checksum,
// its length. It returns where the index ends.
func readIndex(f io.ReaderAt, size int64) (index []byte, end int64, err error) {
	sum, end, err := readTail(f, size)
	if err != nil {
		return nil, 0, err
	}
	index, begin, err := readTail(f, end)
	if err != nil {
		return nil, 0, err
	}
	return index, begin + int64(len(index)), verify(index, sum)
}

// readTail reads the field that ends at end: its bytes, then their number in four
// bytes. It returns the field and where it begins.
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
