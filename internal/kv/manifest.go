package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"google.golang.org/protobuf/proto"
)

// Badger appends what it makes and removes to its manifest, and each opening reads all of
// it. Badger shortens a manifest of ten thousand removals, which short sessions reach in
// months, at several milliseconds for each opening. So a session that closes shortens it.
const (
	// manifestHeader is a magic text and a version.
	manifestHeader = 8
	// manifestWorth is the length from which shortening is worth two syncs.
	manifestWorth = 8 << 10
	// manifestGrowth is how many times as long as it need be a manifest may become.
	manifestGrowth = 4
)

// readManifest replays the manifest, which must be whole, and of the length in the
// seal, if the store was sealed.
func (s *Store) readManifest(sealed bool, size int64) (badger.Manifest, error) {
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
	if end < info.Size() || end < size {
		return m, fmt.Errorf("it breaks off after %d bytes", end)
	}
	return m, nil
}

func (s *Store) manifestFault(err error) error {
	return &CorruptError{Dir: s.dir, File: s.file(badger.ManifestFilename), Err: err}
}

// listed returns a manifest's tables, of which nothing else is known.
func listed(m badger.Manifest) (tables []tableSum) {
	for id, t := range m.Tables {
		tables = append(tables, tableSum{id: id, level: t.Level})
	}
	return tables
}

// shortened returns the manifest of a closed store, which is text and has been replayed
// to m. Where that is worthwhile it writes a shorter one in its place, whole or not at
// all. A manifest that can't be shortened stays as it is.
func (s *Store) shortened(text []byte, m badger.Manifest) []byte {
	if len(text) < manifestWorth {
		return text
	}
	short, err := encodeManifest(text[:manifestHeader], m)
	if err != nil || len(text) < manifestGrowth*len(short) {
		return text
	}
	if s.replaceManifest(short) != nil {
		return text
	}
	return short
}

// encodeManifest returns a manifest with one entry, which makes all tables of m: its
// length, its checksum, and the changes. Badger writes it so, too, when it shortens one.
func encodeManifest(header []byte, m badger.Manifest) ([]byte, error) {
	var changes pb.ManifestChangeSet
	for id, t := range m.Tables {
		changes.Changes = append(changes.Changes, &pb.ManifestChange{
			Id: id, Op: pb.ManifestChange_CREATE, Level: uint32(t.Level), KeyId: t.KeyID,
			EncryptionAlgo: pb.EncryptionAlgo_aes, Compression: uint32(t.Compression),
		})
	}
	entry, err := proto.Marshal(&changes)
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), header...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(entry)))
	out = binary.BigEndian.AppendUint32(out, checksum(nil, entry))
	return append(out, entry...), nil
}

// replaceManifest writes a new manifest, which is on the disk before it replaces the old
// one. So is the removal of the seal, which contains the length of the old one. Badger's
// name for such a file is used: it overwrites what a crash leaves.
func (s *Store) replaceManifest(text []byte) error {
	path := s.file("MANIFEST-REWRITE")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close(), s.syncNames())
	if err == nil {
		err = atomicfile.Rename(path, s.file(badger.ManifestFilename))
	}
	if err != nil {
		_ = os.Remove(path)
		return err
	}
	return s.syncNames()
}
