package bundle

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// craft is a ZIP of which each field can be told otherwise than it is.
type craft struct {
	entries []crafted
	prefix  string // before everything; offsets count from behind it
	lies    bool   // offsets count from the file's start all the same
	gap     string // before the directory
	suffix  string
	comment string
	count   int  // entries told, more than there are
	wideEnd bool // with ZIP64 end records
	wideLie int  // entries told by ZIP64 alone, more than there are
	disks   uint16
}

// crafted is one entry. Zero values mean what is true of name and data.
type crafted struct {
	name, local  string // local: what the local header calls it
	data         string
	method       int // -1: stored
	flags, lflag uint16
	crc          uint32
	size, packed uint32 // told by directory and local header
	lsize        uint32 // told by the local header alone
	external     uint32
	extra        string
	lextra       string
	comment      string
	descriptor   int // its length
	badCRC       bool
	wide         bool // sizes in ZIP64 fields
	garbage      string
	sameAs       int // 1: the offset of the first entry
	disk         uint16
}

func u16(v uint16) string { return string(binary.LittleEndian.AppendUint16(nil, v)) }
func u32(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }
func u64(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }

func extraField(id uint16, body string) string { return u16(id) + u16(uint16(len(body))) + body }

func (c crafted) told() (packed string, method uint16, crc, packedLen, size uint32) {
	packed, method = c.data, methodStore
	if c.method == 0 && c.data != "" {
		var buf bytes.Buffer
		w, _ := flate.NewWriter(&buf, 6)
		_, _ = w.Write([]byte(c.data))
		_ = w.Close()
		packed, method = buf.String(), methodDeflate
	}
	if c.method > 0 {
		method = uint16(c.method)
	}
	packed += c.garbage
	crc, packedLen, size = crc32.ChecksumIEEE([]byte(c.data)), uint32(len(packed)), uint32(len(c.data))
	if c.crc != 0 {
		crc = c.crc
	}
	if c.size != 0 {
		size = c.size
	}
	if c.packed != 0 {
		packedLen = c.packed
	}
	return packed, method, crc, packedLen, size
}

func (z craft) bytes() []byte {
	out := bytes.NewBufferString(z.prefix)
	base := len(z.prefix)
	if z.lies {
		base = 0
	}
	var dir bytes.Buffer
	offsets := []int{}
	for _, e := range z.entries {
		offset := out.Len() - base
		if e.sameAs > 0 {
			offset = offsets[e.sameAs-1]
		}
		offsets = append(offsets, offset)
		packed, method, crc, packedLen, size := e.told()
		flags := e.flags
		if !asciiOnly(e.name) && flags == 0 {
			flags = flagUTF8
		}
		if e.descriptor > 0 {
			flags |= flagDescriptor
		}
		local := e.local
		if local == "" {
			local = e.name
		}
		lcrc, lpacked, lsize, lextra, extra := crc, packedLen, size, e.lextra, e.extra
		if e.descriptor > 0 {
			lcrc, lpacked, lsize = 0, 0, 0
		}
		if e.lsize != 0 {
			lsize = e.lsize
		}
		cpacked, csize := packedLen, size
		if e.wide {
			lextra += extraField(extraZIP64, u64(uint64(lsize))+u64(uint64(lpacked)))
			extra += extraField(extraZIP64, u64(uint64(size))+u64(uint64(packedLen)))
			lsize, lpacked, csize, cpacked = all32, all32, all32, all32
		}
		if e.sameAs == 0 {
			out.WriteString(u32(sigLocal) + u16(20) + u16(flags^e.lflag) + u16(method) + u32(0x00210000) + u32(lcrc) + u32(lpacked) + u32(lsize) +
				u16(uint16(len(local))) + u16(uint16(len(lextra))) + local + lextra + packed)
			if e.badCRC {
				crc ^= 1
			}
			switch e.descriptor {
			case 12:
				out.WriteString(u32(crc) + u32(packedLen) + u32(size))
			case 16:
				out.WriteString(u32(sigDescriptor) + u32(crc) + u32(packedLen) + u32(size))
			case 20:
				out.WriteString(u32(crc) + u64(uint64(packedLen)) + u64(uint64(size)))
			case 24:
				out.WriteString(u32(sigDescriptor) + u32(crc) + u64(uint64(packedLen)) + u64(uint64(size)))
			}
			if e.badCRC {
				crc ^= 1
			}
		}
		dir.WriteString(u32(sigCentral) + u16(20) + u16(20) + u16(flags) + u16(method) + u32(0x00210000) + u32(crc) + u32(cpacked) + u32(csize) +
			u16(uint16(len(e.name))) + u16(uint16(len(extra))) + u16(uint16(len(e.comment))) + u16(e.disk) + u16(0) + u32(e.external) + u32(uint32(offset)) +
			e.name + extra + e.comment)
	}
	out.WriteString(z.gap)
	start := out.Len() - base
	out.Write(dir.Bytes())
	n := len(z.entries)
	count, size, offset := uint16(n+z.count), uint32(dir.Len()), uint32(start)
	if z.wideEnd {
		at := out.Len() - base
		out.WriteString(u32(sigEnd64) + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(uint64(n+z.wideLie)) + u64(uint64(n+z.wideLie)) +
			u64(uint64(dir.Len())) + u64(uint64(start)) + u32(sigLocator64) + u32(0) + u64(uint64(at)) + u32(1))
		if z.count == 0 {
			count, size, offset = all16, all32, all32
		}
	}
	out.WriteString(u32(sigEnd) + u16(z.disks) + u16(z.disks) + u16(count) + u16(count) + u32(size) + u32(offset) + u16(uint16(len(z.comment))) + z.comment)
	out.WriteString(z.suffix)
	return out.Bytes()
}

const demoManifest = "manifest_version: \"1\"\nid: demo\nname: Demo\nversion: \"1.0.0\"\ndescription: A demo.\n"

// demo is a good toolset with some entries more.
func demo(more ...crafted) craft {
	return craft{entries: append([]crafted{{name: "toolset.yaml", data: demoManifest}, {name: "tools/hello.py", data: "def run(workspace):\n    return {}\n"}}, more...)}
}

func openBytes(t testing.TB, raw []byte) (*Bundle, error) {
	t.Helper()
	return OpenZIP(t.Context(), bytes.NewReader(raw), int64(len(raw)), Options{})
}
