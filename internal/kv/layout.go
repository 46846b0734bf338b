package kv

import (
	"bytes"
	"fmt"
)

// A stored key begins with its room. The lowest and the highest key of a store
// are rewritten by every session that writes, see [Tx.stamp].
//
//	0x00 'l'                                        lowest
//	0x01 name                                       about the store itself
//	0x02 table 0x00 primary key                     a record
//	0x03 table 0x00 index 0x00 index key …          an index entry
//	0xFF 'h'                                        highest
//
// An entry of a plain index goes on with 0x00 and the record's primary key, and
// its value is that key's length; one of a unique index ends with the index
// key, and its value is the primary key.
const (
	roomMeta   = 0x01
	roomRecord = 0x02
	roomIndex  = 0x03
	nameEnd    = 0x00
)

func lowestKey() []byte  { return []byte{0x00, 'l'} }
func highestKey() []byte { return []byte{0xFF, 'h'} }

func metaKey(name string) []byte { return append([]byte{roomMeta}, name...) }

// recordPrefix is what the keys of a table's records begin with.
func recordPrefix(table string) []byte {
	return append(append([]byte{roomRecord}, table...), nameEnd)
}

// indexPrefix is what the entries of one index begin with, or of all of a
// table's where index is empty.
func indexPrefix(table, index string) []byte {
	out := append(append([]byte{roomIndex}, table...), nameEnd)
	if index == "" {
		return out
	}
	return append(append(out, index...), nameEnd)
}

// join gives a new slice with the parts behind each other.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// describe names a stored key for people: record ("a", 3) of table "chats".
func describe(key []byte) string {
	if len(key) == 0 {
		return "an empty key"
	}
	table, rest, ok := bytes.Cut(key[1:], []byte{nameEnd})
	switch {
	case key[0] == roomRecord && ok:
		return fmt.Sprintf("record %s of table %q", Key(rest), table)
	case key[0] == roomIndex && ok:
		index, _, _ := bytes.Cut(rest, []byte{nameEnd})
		return fmt.Sprintf("index %q of table %q", index, table)
	case key[0] == roomMeta:
		return fmt.Sprintf("the store's own record %q", key[1:])
	}
	return fmt.Sprintf("key %x", key)
}
