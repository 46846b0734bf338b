package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Digest is the SHA-256 of a blob's bytes or of a tree's encoding, which is
// its name in the store.
type Digest [sha256.Size]byte

// Sum is the digest of b.
func Sum(b []byte) Digest { return sha256.Sum256(b) }

// ParseDigest reads 64 lower-case hexadecimal digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != hex.EncodedLen(len(d)) {
		return d, fmt.Errorf("read digest %.80q: want %d hexadecimal digits", s, hex.EncodedLen(len(d)))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return d, fmt.Errorf("read digest %.80q: %w", s, err)
	}
	if d.String() != s {
		return d, fmt.Errorf("read digest %.80q: want lower-case digits", s)
	}
	return d, nil
}

// String gives 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero tells the digest that was never set.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDigest.
func (d *Digest) UnmarshalText(text []byte) error {
	got, err := ParseDigest(string(text))
	if err == nil {
		*d = got
	}
	return err
}

func (d Digest) key() kv.Key { return kv.Str(string(d[:])) }

// digestOf reads a key that key made.
func digestOf(k kv.Key) (d Digest, ok bool) {
	parts, err := k.Parts()
	if err != nil || len(parts) != 1 {
		return d, false
	}
	s, ok := parts[0].(string)
	return d, ok && copy(d[:], s) == len(d) && len(s) == len(d)
}
