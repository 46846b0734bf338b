package bundle

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf8"
)

// Signatures and sizes of a ZIP's records (APPNOTE 6.3).
const (
	sigLocal      = 0x04034b50
	sigCentral    = 0x02014b50
	sigEnd        = 0x06054b50
	sigEnd64      = 0x06064b50
	sigLocator64  = 0x07064b50
	sigDescriptor = 0x08074b50

	lenLocal     = 30
	lenCentral   = 46
	lenEnd       = 22
	lenEnd64     = 56
	lenLocator64 = 20

	methodStore   = 0
	methodDeflate = 8
	methodAES     = 99

	flagEncrypted  = 0x0001
	flagDescriptor = 0x0008
	flagStrong     = 0x0040
	flagUTF8       = 0x0800
	flagMasked     = 0x2000
	// flagLevel says how hard the packer tried; readers don't look at it.
	flagLevel = 0x0006

	extraZIP64    = 0x0001
	extraAES      = 0x9901
	extraUniPath  = 0x7075
	extraUniNote  = 0x6375
	all16, all32  = 0xffff, 0xffffffff
	modeType      = 0o170000
	modeRegular   = 0o100000
	modeFolder    = 0o040000
	modeSpecial   = 0o7111 // setuid, setgid, sticky and the executable bits
	dosFolder     = 0x10
	dosVolume     = 0x08
	dosReparse    = 0x400
	maxNameLength = 4 << 10
	// maxDirectory is ten times what maxEntries with their names take.
	maxDirectory = 8 * mib
)

// zipEntry is an entry of the central directory.
type zipEntry struct {
	name          string // with a folder's slash
	flags, method uint16
	crc           uint32
	packed, size  int64
	offset        int64 // of the local header
	data          int64 // of the contents, once the local header was read
	external      uint32
	host          byte // the system that packed it
}

// Systems whose packers write names in the locale's encoding, which is UTF-8
// wherever it can be read as such: Debian's zip doesn't mark them.
const hostUnix, hostDarwin = 3, 19

// unmarked tells whether the name is UTF-8 without saying so.
func (e *zipEntry) unmarked() bool { return e.flags&flagUTF8 == 0 && !asciiOnly(e.name) }

func (e *zipEntry) dir() bool { return strings.HasSuffix(e.name, "/") }

func (e *zipEntry) refuse(code Code, format string, args ...any) error {
	return refuse(code, e.name, format, args...)
}

// zipEnd is what the end of an archive says of its directory.
type zipEnd struct {
	count        int64
	offset, size int64
}

// readZIP reads the directory of an archive and holds everything in it against
// the rest of the file, short of the contents.
func readZIP(r io.ReaderAt, size int64) ([]zipEntry, error) {
	if size > maxArchive {
		return nil, refuse(Size, "", "the archive has %d bytes; %d are allowed", size, int64(maxArchive))
	}
	var first [4]byte
	if _, err := r.ReadAt(first[:], 0); err != nil || binary.LittleEndian.Uint32(first[:]) != sigLocal {
		if err == nil && binary.LittleEndian.Uint32(first[:]) == sigEnd {
			return nil, refuse(Format, "", "the ZIP is empty")
		}
		return nil, refuse(Format, "", "it is no ZIP and no tar.gz: it doesn't begin as one does")
	}
	end, err := readEnd(r, size)
	if err != nil {
		return nil, err
	}
	entries, err := readDirectory(r, end)
	if err != nil {
		return nil, err
	}
	return entries, checkTiles(r, entries, end.offset)
}

// readEnd reads the record that ends the archive; it must be its last bytes.
func readEnd(r io.ReaderAt, size int64) (zipEnd, error) {
	var rec [lenEnd]byte
	if size < lenEnd {
		return zipEnd{}, refuse(Format, "", "the ZIP is cut off")
	}
	if _, err := r.ReadAt(rec[:], size-lenEnd); err != nil {
		return zipEnd{}, err
	}
	le := binary.LittleEndian
	if le.Uint32(rec[:]) != sigEnd || le.Uint16(rec[20:]) != 0 {
		return zipEnd{}, refuse(Format, "", "the ZIP is cut off, or has a comment or something else behind its end")
	}
	if le.Uint16(rec[4:]) != 0 && le.Uint16(rec[4:]) != all16 || le.Uint16(rec[8:]) != le.Uint16(rec[10:]) {
		return zipEnd{}, refuse(Format, "", "the ZIP has several parts")
	}
	end := zipEnd{count: int64(le.Uint16(rec[10:])), size: int64(le.Uint32(rec[12:])), offset: int64(le.Uint32(rec[16:]))}
	at := size - lenEnd
	end64, at64, err := readEnd64(r, at)
	switch {
	case err != nil:
		return zipEnd{}, err
	case at64 >= 0:
		if !agrees(end.count, end64.count, all16) || !agrees(end.size, end64.size, all32) || !agrees(end.offset, end64.offset, all32) {
			return zipEnd{}, refuse(Mismatch, "", "the two end records of the ZIP differ")
		}
		end, at = end64, at64
	}
	switch {
	case end.count > maxEntries:
		return zipEnd{}, refuse(Count, "", "it has %d entries; %d are allowed", end.count, maxEntries)
	case end.offset < 0 || end.size < 0 || end.offset > at || end.size > at || end.offset+end.size != at:
		return zipEnd{}, refuse(Format, "", "the ZIP's directory isn't where its end says, or something lies between them")
	case end.size > maxDirectory:
		return zipEnd{}, refuse(Count, "", "the ZIP's directory has %d bytes; %d are allowed", end.size, maxDirectory)
	}
	return end, nil
}

// agrees compares a field with its wider twin, to which it leaves the word
// when all its bits are set.
func agrees(narrow, wide, all int64) bool { return narrow == all || narrow == wide }

// readEnd64 reads the ZIP64 records before the end record at at, if there are
// any. They give where they begin, or -1.
func readEnd64(r io.ReaderAt, at int64) (zipEnd, int64, error) {
	var rec [lenEnd64 + lenLocator64]byte
	start := at - int64(len(rec))
	if start < 0 {
		return zipEnd{}, -1, nil
	}
	if _, err := r.ReadAt(rec[:], start); err != nil {
		return zipEnd{}, -1, err
	}
	le := binary.LittleEndian
	loc := rec[lenEnd64:]
	if le.Uint32(loc) != sigLocator64 {
		return zipEnd{}, -1, nil
	}
	if le.Uint32(loc[4:]) != 0 || le.Uint32(loc[16:]) > 1 || le.Uint64(loc[8:]) != uint64(start) ||
		le.Uint32(rec[:]) != sigEnd64 || le.Uint64(rec[4:]) != lenEnd64-12 ||
		le.Uint32(rec[16:]) != 0 || le.Uint32(rec[20:]) != 0 || le.Uint64(rec[24:]) != le.Uint64(rec[32:]) {
		return zipEnd{}, -1, refuse(Format, "", "the ZIP64 end records are broken")
	}
	end := zipEnd{count: int64(le.Uint64(rec[32:])), size: int64(le.Uint64(rec[40:])), offset: int64(le.Uint64(rec[48:]))}
	if end.count < 0 || end.size < 0 || end.offset < 0 {
		return zipEnd{}, -1, refuse(Count, "", "the ZIP64 end record tells impossible sizes")
	}
	return end, start, nil
}

func readDirectory(r io.ReaderAt, end zipEnd) ([]zipEntry, error) {
	raw := make([]byte, end.size)
	if _, err := r.ReadAt(raw, end.offset); err != nil {
		return nil, err
	}
	var entries []zipEntry
	for len(raw) > 0 {
		if int64(len(entries)) == end.count {
			return nil, refuse(Count, "", "the ZIP's directory has more than the %d entries that its end tells", end.count)
		}
		e, rest, err := readCentral(raw)
		if err != nil {
			return nil, err
		}
		entries, raw = append(entries, e), rest
	}
	if int64(len(entries)) != end.count {
		return nil, refuse(Count, "", "the ZIP's directory has %d entries, its end tells %d", len(entries), end.count)
	}
	return entries, nil
}

// readCentral reads one entry of the directory and gives what follows it.
func readCentral(raw []byte) (zipEntry, []byte, error) {
	le := binary.LittleEndian
	if len(raw) < lenCentral || le.Uint32(raw) != sigCentral {
		return zipEntry{}, nil, refuse(Format, "", "the ZIP's directory is broken")
	}
	nameLen, extraLen, noteLen := int(le.Uint16(raw[28:])), int(le.Uint16(raw[30:])), int(le.Uint16(raw[32:]))
	if len(raw) < lenCentral+nameLen+extraLen+noteLen {
		return zipEntry{}, nil, refuse(Format, "", "the ZIP's directory is cut off")
	}
	e := zipEntry{
		host: raw[5], flags: le.Uint16(raw[8:]), method: le.Uint16(raw[10:]), crc: le.Uint32(raw[16:]),
		packed: int64(le.Uint32(raw[20:])), size: int64(le.Uint32(raw[24:])),
		external: le.Uint32(raw[38:]), offset: int64(le.Uint32(raw[42:])),
		name: string(raw[lenCentral : lenCentral+nameLen]),
	}
	extra := raw[lenCentral+nameLen:][:extraLen]
	rest := raw[lenCentral+nameLen+extraLen+noteLen:]
	disk := le.Uint16(raw[34:])
	switch {
	case noteLen > 0:
		return e, nil, e.refuse(Format, "it has a comment")
	case disk != 0 && disk != all16:
		return e, nil, e.refuse(Format, "it lies in another part of the ZIP")
	}
	wide, err := readExtra(e.name, extra)
	if err != nil {
		return e, nil, err
	}
	fields := []*int64{}
	for _, f := range []*int64{&e.size, &e.packed, &e.offset} {
		if *f == all32 {
			fields = append(fields, f)
		}
	}
	if err := e.widen(wide, fields); err != nil {
		return e, nil, err
	}
	return e, rest, e.check()
}

// widen takes 64-bit values for the fields that leave the word to them.
func (e *zipEntry) widen(wide []byte, fields []*int64) error {
	for _, f := range fields {
		if len(wide) < 8 {
			return e.refuse(Format, "its ZIP64 field is missing or too short")
		}
		*f = int64(binary.LittleEndian.Uint64(wide))
		wide = wide[8:]
		if *f < 0 {
			return e.refuse(Bomb, "it tells an impossible size")
		}
	}
	return nil
}

// readExtra goes through the extra fields and gives ZIP64's.
func readExtra(name string, extra []byte) (zip64 []byte, err error) {
	le := binary.LittleEndian
	found := false
	for len(extra) > 0 {
		if len(extra) < 4 || len(extra) < 4+int(le.Uint16(extra[2:])) {
			return nil, refuse(Format, name, "its extra fields are broken")
		}
		id, field := le.Uint16(extra), extra[4:4+int(le.Uint16(extra[2:]))]
		extra = extra[4+len(field):]
		switch id {
		case extraZIP64:
			if found {
				return nil, refuse(Format, name, "it has two ZIP64 fields")
			}
			found, zip64 = true, field
		case extraAES:
			return nil, refuse(Encrypted, name, "it is encrypted")
		case extraUniPath:
			if len(field) < 5 || string(field[5:]) != name {
				return nil, refuse(Mismatch, name, "it has a second name, which some readers take")
			}
		case extraUniNote:
			return nil, refuse(Format, name, "it has a comment")
		}
	}
	return zip64, nil
}

// check judges what the directory says of one entry.
func (e *zipEntry) check() error {
	switch {
	case e.flags&(flagEncrypted|flagStrong|flagMasked) != 0 || e.method == methodAES:
		return e.refuse(Encrypted, "it is encrypted")
	case e.method != methodStore && e.method != methodDeflate:
		return e.refuse(Method, "it is packed by method %d; only stored and deflated entries are read", e.method)
	case e.flags&^(flagDescriptor|flagUTF8|flagLevel) != 0:
		return e.refuse(Format, "its flags %#x are not known", e.flags)
	case e.method == methodStore && e.packed != e.size:
		return e.refuse(Mismatch, "it is stored, but its two sizes differ")
	case len(e.name) > maxNameLength:
		return e.refuse(Name, "its name has %d bytes", len(e.name))
	case e.unmarked() && utf8.ValidString(e.name) && e.host != hostUnix && e.host != hostDarwin:
		return e.refuse(Name, "its name is not marked as UTF-8, and readers differ on what it is")
	}
	return e.checkType()
}

func asciiOnly(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (e *zipEntry) checkType() error {
	mode := e.external >> 16
	kind := mode & modeType
	switch {
	case kind != 0 && kind != modeRegular && kind != modeFolder:
		return e.refuse(Type, "it is a link or a special file; a bundle has files and folders")
	case e.external&(dosVolume|dosReparse) != 0 && kind == 0:
		return e.refuse(Type, "it is a volume's label or a link")
	case (kind == modeFolder) != e.dir() && kind != 0, e.external&dosFolder != 0 && !e.dir():
		return e.refuse(Type, "its name and its type disagree on whether it is a folder")
	case e.dir() && (e.size != 0 || e.crc != 0 || e.packed > 2):
		return e.refuse(Type, "it is a folder with contents")
	}
	return nil
}

// mcpbTrailer finds the signature block that mcpb appends behind the end of a
// ZIP: its size is what has to be taken off. 0 where there is none.
func mcpbTrailer(r io.ReaderAt, size int64) int64 {
	const (
		head, tail = "MCPB_SIG_V1", "MCPB_SIG_END"
		maxBlock   = 64 << 10 // a chain of certificates has a few kilobytes
	)
	n := min(size, maxBlock)
	buf := make([]byte, n)
	if _, err := r.ReadAt(buf, size-n); err != nil && err != io.EOF {
		return 0
	}
	if !bytes.HasSuffix(buf, []byte(tail)) {
		return 0
	}
	for from := 0; ; {
		i := bytes.Index(buf[from:], []byte(head))
		if i < 0 || len(buf)-from-i < len(head)+4+len(tail) {
			return 0
		}
		block := buf[from+i:]
		if int(binary.LittleEndian.Uint32(block[len(head):])) == len(block)-len(head)-4-len(tail) {
			return int64(len(block))
		}
		from += i + 1
	}
}
