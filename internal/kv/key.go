package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Key is a tuple of strings and int64s in an encoding whose bytes sort as the
// tuples do: component by component, strings bytewise, integers by value, an
// integer before a string, and a tuple before the longer ones that begin with
// it. A tuple's encoding is therefore a prefix of the encodings of the longer
// ones, which is what makes [Range.Prefix] and partial index values work.
//
// The encoding: an integer is 0x01 and eight bytes, big-endian, with the sign
// bit flipped. A string is 0x02, its bytes with each 0x00 written as 0x00
// 0xFF, and 0x00 0x01 to end it. It is stored, so it never changes.
type Key []byte

const (
	tagInt = 0x01
	tagStr = 0x02

	escape    = 0x00
	escaped   = 0xFF // after escape: a 0x00 of the string
	terminate = 0x01 // after escape: the string's end; below every byte that could follow a longer string

	signBit = 1 << 63
)

// Str is the key of one string.
func Str(s string) Key { return Key(nil).Str(s) }

// Int is the key of one integer.
func Int(n int64) Key { return Key(nil).Int(n) }

// StrPrefix stands for all strings that begin with s. It is for [Range.Prefix]
// and index values, and nothing may be added behind it.
func StrPrefix(s string) Key { return Key(nil).StrPrefix(s) }

// Str gives k with a string added. k itself is left as it was.
func (k Key) Str(s string) Key {
	return append(appendString(k, s), escape, terminate)
}

// Int gives k with an integer added. k itself is left as it was.
func (k Key) Int(n int64) Key {
	out := append(k[:len(k):len(k)], tagInt)
	return binary.BigEndian.AppendUint64(out, uint64(n)^signBit)
}

// StrPrefix gives k with the beginning of a string added, see [StrPrefix].
func (k Key) StrPrefix(s string) Key { return appendString(k, s) }

// appendString adds s without its end. Capping k makes append copy, so that
// two keys made from one never share bytes.
func appendString(k Key, s string) Key {
	out := make(Key, 0, len(k)+len(s)+3+strings.Count(s, "\x00"))
	out = append(append(out, k...), tagStr)
	for {
		i := strings.IndexByte(s, escape)
		if i < 0 {
			return append(out, s...)
		}
		out = append(append(out, s[:i]...), escape, escaped)
		s = s[i+1:]
	}
}

// Parts gives the components: a string or an int64 each.
func (k Key) Parts() ([]any, error) {
	var parts []any
	for rest := k; len(rest) > 0; {
		part, n, err := firstPart(rest)
		if err != nil {
			return nil, fmt.Errorf("decode key %x: %w", []byte(k), err)
		}
		parts = append(parts, part)
		rest = rest[n:]
	}
	return parts, nil
}

var errKeyForm = errors.New("not a key")

// firstPart decodes the component that k begins with, and its length.
func firstPart(k Key) (part any, n int, err error) {
	switch k[0] {
	case tagInt:
		if len(k) < 9 {
			return nil, 0, errKeyForm
		}
		return int64(binary.BigEndian.Uint64(k[1:9]) ^ signBit), 9, nil
	case tagStr:
		return firstString(k)
	}
	return nil, 0, errKeyForm
}

func firstString(k Key) (part any, n int, err error) {
	var s []byte
	for i := 1; ; {
		j := bytes.IndexByte(k[i:], escape)
		if j < 0 || i+j+1 >= len(k) {
			return nil, 0, errKeyForm
		}
		s = append(s, k[i:i+j]...)
		switch i += j + 2; k[i-1] {
		case terminate:
			return string(s), i, nil
		case escaped:
			s = append(s, 0)
		default:
			return nil, 0, errKeyForm
		}
	}
}

// String shows the tuple for messages: ("a", 3).
func (k Key) String() string {
	parts, err := k.Parts()
	if err != nil {
		return fmt.Sprintf("key %x", []byte(k))
	}
	shown := make([]string, len(parts))
	for i, p := range parts {
		switch v := p.(type) {
		case string:
			shown[i] = strconv.QuoteToASCII(v)
		case int64:
			shown[i] = strconv.FormatInt(v, 10)
		}
	}
	return "(" + strings.Join(shown, ", ") + ")"
}

// after gives the first key behind every key that begins with prefix, or nil
// where there is none.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] != 0xFF {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}
