package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dgraph-io/badger/v4"
)

// sealName is a file that records that the last session closed in order, and the state
// of the manifest and the tables at that time.
//
// Badger reads a manifest up to the first entry that it can't, and deletes the tables
// that it doesn't find in it: right after a crash, which can tear the last entry, and
// the end of the data in any other case. The seal distinguishes the two.
//
// A table that the seal describes was checked before. As long as it is unchanged (see
// [tableSum]) an opening does not read its index, which Badger reads and verifies
// anyway, so an opening reads each index once. A seal that is damaged, or is another
// program's, or is older than the store, describes nothing, and all is checked.
const sealName = "SEAL"

// sealed is the content of a seal.
type sealed struct {
	size   int64  // of the manifest
	sum    uint32 // of the manifest
	tables []tableSum
}

// sealMagic begins a seal. A program that expects only the length of the manifest, in
// digits, takes it for a seal without content.
const sealMagic = "fettle seal 2\n"

// closed reports whether the last session closed in order. A power cut may restore a
// seal that was removed before the store changed, but a close leaves no memtable's log.
func closed(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == sealName }) &&
		!slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".mem" })
}

// encode returns the seal's bytes, which end with their own sum.
func (c *sealed) encode() []byte {
	out := []byte(sealMagic)
	u64 := binary.BigEndian.AppendUint64
	u32 := binary.BigEndian.AppendUint32
	out = u32(u64(out, uint64(c.size)), c.sum)
	for _, t := range c.tables {
		out = append(u64(out, t.id), t.level)
		for _, n := range []int64{t.size, t.block, t.length, t.footer} {
			out = u64(out, uint64(n))
		}
		out = u32(out, t.sum)
	}
	return u32(out, checksum(nil, out))
}

// decodeSeal is the reverse of encode; ok is false for anything else.
func decodeSeal(in []byte) (c sealed, ok bool) {
	const one = 8 + 1 + 4*8 + 4
	rest, is := bytes.CutPrefix(in, []byte(sealMagic))
	if !is || len(rest) < 16 || (len(rest)-16)%one != 0 {
		return c, false
	}
	end := len(in) - 4
	if binary.BigEndian.Uint32(in[end:]) != checksum(nil, in[:end]) {
		return c, false
	}
	i64 := func(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
	c.size, c.sum = i64(rest), binary.BigEndian.Uint32(rest[8:])
	for at := 12; at+one <= len(rest)-4; at += one {
		b := rest[at:]
		c.tables = append(c.tables, tableSum{
			id: binary.BigEndian.Uint64(b), level: b[8],
			size: i64(b[9:]), block: i64(b[17:]), length: i64(b[25:]), footer: i64(b[33:]),
			sum: binary.BigEndian.Uint32(b[41:]),
		})
	}
	return c, true
}

// checkTables lists the tables of the store in p and checks those that have changed
// since the store was sealed. exists reports whether there is a manifest.
func (s *Store) checkTables(p *plan) (exists bool, err error) {
	text, err := os.ReadFile(s.file(badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return true, s.manifestFault(err)
	}
	var seal sealed
	if p.clean {
		seal = s.readSeal()
	}
	known := seal.tables
	if seal.size != int64(len(text)) || seal.sum != checksum(nil, text) {
		manifest, err := s.readManifest(p.clean, seal.size)
		if err != nil {
			return true, s.manifestFault(err)
		}
		known = listed(manifest)
	}
	for _, t := range known {
		if t.size > 0 && !s.wary && s.unchanged(&t) {
			p.trusted = true
		} else {
			level := t.level
			if t, err = s.checkTable(t.id, false); err != nil {
				return true, err
			}
			t.level = level
		}
		p.tables = append(p.tables, t)
	}
	return true, nil
}

// readSeal reads the seal; it is empty where it can't be read.
func (s *Store) readSeal() sealed {
	text, err := os.ReadFile(s.file(sealName))
	if err != nil {
		return sealed{}
	}
	if seal, ok := decodeSeal(text); ok {
		return seal
	}
	size, err := strconv.ParseInt(string(text), 10, 64) // a seal of version 1 is that alone
	if err != nil {
		return sealed{}
	}
	return sealed{size: size}
}

// seal writes the seal of a store that has just been closed; p is what its session
// found as it opened. Without a seal the store is taken to have crashed, which is true
// for what it can't write. New tables are checked here, while they are in memory.
func (s *Store) seal(p *plan) {
	text, err := os.ReadFile(s.file(badger.ManifestFilename))
	if err != nil {
		return
	}
	manifest, err := s.readManifest(false, 0)
	if err != nil {
		return
	}
	text = s.shortened(text, manifest)
	seal := sealed{size: int64(len(text)), sum: checksum(nil, text)}
	before := make(map[uint64]tableSum, len(p.tables))
	for _, t := range p.tables {
		before[t.id] = t
	}
	for _, t := range listed(manifest) {
		old, ok := before[t.id]
		if !ok {
			if old, err = s.checkTable(t.id, false); err != nil {
				return // the next opening reports it
			}
		}
		old.level = t.level
		seal.tables = append(seal.tables, old)
	}
	_ = os.WriteFile(s.file(sealName), seal.encode(), 0o600)
}

// unseal removes the seal before the store changes.
func (s *Store) unseal() error {
	if err := os.Remove(s.file(sealName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &DirError{Dir: s.dir, Err: err}
	}
	return nil
}
