package store

import (
	"errors"

	"github.com/fettle-cli/fettle/internal/kv"
)

// StoredPart is a part that is in the store.
type StoredPart struct {
	Key    kv.Key
	index  string // its name
	Digest string
	Of     int // how many parts the document has
}

var errPartKey = errors.New("a key of the vectors of documents is damaged")

func ReadPartKey(key kv.Key) (p StoredPart, err error) {
	parts, err := key.Parts()
	if err != nil {
		return p, err
	}
	if len(parts) == 4 {
		index, isIndex := parts[0].(string)
		digest, isDigest := parts[1].(string)
		of, isOf := parts[3].(int64)
		if isIndex && isDigest && isOf {
			return StoredPart{key, index, digest, int(of)}, nil
		}
	}
	return p, errPartKey
}
