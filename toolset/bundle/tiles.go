package bundle

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
)

// checkTiles wants the entries to lie side by side from the first byte to the
// directory, and each local header to say what the directory says. Readers
// that go by one or by the other then see the same, and nothing is hidden.
func checkTiles(r io.ReaderAt, entries []zipEntry, end int64) error {
	order := make([]*zipEntry, len(entries))
	for i := range entries {
		order[i] = &entries[i]
	}
	slices.SortStableFunc(order, func(a, b *zipEntry) int { return cmp.Compare(a.offset, b.offset) })
	// Overlaps first, by what the directory says alone: that is how a bomb of
	// a few kilobytes is made, and its other faults follow from it.
	for i, e := range order {
		next := end
		if i+1 < len(order) {
			next = order[i+1].offset
		}
		switch least := e.offset + lenLocal; {
		case e.offset > end || e.packed > end:
			return e.refuse(Format, "it lies behind the ZIP's directory")
		case least+e.packed > next && i+1 < len(order):
			return e.refuse(Bomb, "it overlaps %s", Printable(order[i+1].name))
		case least+e.packed > next:
			return e.refuse(Format, "it reaches into the ZIP's directory")
		}
	}
	at := int64(0)
	for i, e := range order {
		next := end
		if i+1 < len(order) {
			next = order[i+1].offset
		}
		if e.offset != at {
			return e.refuse(Format, "something that the ZIP's directory doesn't list lies before it")
		}
		stop, err := e.readLocal(r, next)
		if err != nil {
			return err
		}
		at = stop
	}
	if at != end {
		return refuse(Format, "", "something that the ZIP's directory doesn't list lies before the directory")
	}
	return nil
}

// local is what stands before an entry's contents.
type local struct {
	flags, method uint16
	crc           uint32
	packed, size  int64
	name          string
}

// readLocal compares an entry's local header with the directory, and gives
// where the entry ends.
func (e *zipEntry) readLocal(r io.ReaderAt, next int64) (int64, error) {
	// one read for what most headers have; extra fields are some dozen bytes
	buf := make([]byte, min(lenLocal+int64(len(e.name))+128, next-e.offset))
	if _, err := r.ReadAt(buf, e.offset); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	if le.Uint32(buf) != sigLocal {
		return 0, e.refuse(Format, "there is no entry where the ZIP's directory says")
	}
	length := lenLocal + int64(le.Uint16(buf[26:])) + int64(le.Uint16(buf[28:]))
	if e.offset+length+e.packed > next {
		return 0, e.refuse(Mismatch, "its local header doesn't fit where the ZIP's directory says")
	}
	if length > int64(len(buf)) {
		buf = make([]byte, length)
		if _, err := r.ReadAt(buf, e.offset); err != nil {
			return 0, err
		}
	}
	nameLen := int(le.Uint16(buf[26:]))
	l := local{
		flags: le.Uint16(buf[6:]), method: le.Uint16(buf[8:]), crc: le.Uint32(buf[14:]),
		packed: int64(le.Uint32(buf[18:])), size: int64(le.Uint32(buf[22:])),
		name: string(buf[lenLocal : lenLocal+nameLen]),
	}
	wide, err := readExtra(e.name, buf[lenLocal+nameLen:length])
	if err != nil {
		return 0, err
	}
	var fields []*int64
	for _, f := range []*int64{&l.size, &l.packed} {
		if *f == all32 {
			fields = append(fields, f)
		}
	}
	if err := e.widen(wide, fields); err != nil {
		return 0, err
	}
	if err := e.compare(l); err != nil {
		return 0, err
	}
	e.data = e.offset + length
	return e.descriptor(r, next)
}

func (e *zipEntry) compare(l local) error {
	// With a data descriptor to follow, what isn't known yet is 0.
	right := func(told, known int64) bool { return told == known || told == 0 && e.flags&flagDescriptor != 0 }
	switch {
	case l.name != e.name:
		return e.refuse(Mismatch, "its local header calls it %s", Printable(l.name))
	case l.method != e.method:
		return e.refuse(Mismatch, "its local header tells method %d, the ZIP's directory %d", l.method, e.method)
	case l.flags&^flagLevel != e.flags&^flagLevel:
		return e.refuse(Mismatch, "its local header has other flags than the ZIP's directory")
	case !right(int64(l.crc), int64(e.crc)), !right(l.packed, e.packed), !right(l.size, e.size):
		return e.refuse(Mismatch, "its local header tells another size or checksum than the ZIP's directory")
	}
	return nil
}

// descriptor reads what may follow the contents: checksum and sizes once more,
// with or without a signature, in 32 or 64 bits. Which of these it is, the next
// entry tells by where it begins.
func (e *zipEntry) descriptor(r io.ReaderAt, next int64) (int64, error) {
	stop := e.data + e.packed
	if e.flags&flagDescriptor == 0 {
		return stop, nil
	}
	n := next - stop
	var buf [24]byte
	if n != 12 && n != 16 && n != 20 && n != 24 {
		return 0, e.refuse(Format, "no data descriptor follows it, or something else does")
	}
	if _, err := r.ReadAt(buf[:n], stop); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	rec := buf[:n]
	if n == 16 || n == 24 {
		if le.Uint32(rec) != sigDescriptor {
			return 0, e.refuse(Format, "its data descriptor is broken")
		}
		rec = rec[4:]
	}
	packed, size := int64(0), int64(0)
	if len(rec) == 12 {
		packed, size = int64(le.Uint32(rec[4:])), int64(le.Uint32(rec[8:]))
	} else {
		packed, size = int64(le.Uint64(rec[4:])), int64(le.Uint64(rec[12:]))
	}
	if le.Uint32(rec) != e.crc || packed != e.packed || size != e.size {
		return 0, e.refuse(Mismatch, "its data descriptor tells another size or checksum than the ZIP's directory")
	}
	return next, nil
}
