package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	formatName = "fettle-backup"
	version    = 1
	headName   = "format.json"
	endName    = "end.json"
	// maxJSON bounds head and end, maxName names and targets.
	maxJSON = 64 << 10
	maxName = 16 << 10
)

var (
	// ErrDamaged means that the file isn't as it was written.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrFormat means that the file is no backup, or a newer program's.
	ErrFormat = errors.New("this is no backup that this fettle can read")
)

// Kind says what an entry is.
type Kind byte

// The kinds.
const (
	File   Kind = 'f'
	Folder Kind = 'd'
	Link   Kind = 'l'
)

// Entry is one thing in a backup.
type Entry struct {
	Name   string
	Kind   Kind
	Mode   fs.FileMode // permissions
	Size   int64       // of a file
	Target string      // of a link
}

// Head is what a backup says of itself before anything else.
type Head struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	MadeAt  time.Time `json:"made_at"`
	// Bytes is about what the files take, for who looks whether there is room.
	Bytes int64 `json:"bytes"`
}

// end is the last entry.
type end struct {
	Entries int64  `json:"entries"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// sum adds up what goes through.
type sum struct {
	all hash.Hash
	end end
}

func newSum() *sum { return &sum{all: sha256.New()} }

// entry takes in everything of an entry but its content, which follows by Write.
func (s *sum) entry(e Entry) {
	b := []byte{byte(e.Kind)}
	b = binary.AppendUvarint(b, uint64(len(e.Name)))
	b = append(b, e.Name...)
	b = binary.AppendUvarint(b, uint64(e.Mode.Perm()))
	b = binary.AppendUvarint(b, uint64(len(e.Target)))
	b = append(b, e.Target...)
	b = binary.AppendUvarint(b, uint64(e.Size))
	_, _ = s.all.Write(b) // a hash never fails
	s.end.Entries++
	s.end.Bytes += e.Size
}

// content gives a reader of an entry's content that is summed as it is read.
func (s *sum) content(r io.Reader) io.Reader { return io.TeeReader(r, s.all) }

func (s *sum) result() end {
	s.end.SHA256 = hex.EncodeToString(s.all.Sum(nil))
	return s.end
}

// goodName tells whether a name is one that may be made below a folder. Names of
// files may be any bytes.
func goodName(name string) bool {
	return name != "" && name != "." && len(name) <= maxName && !path.IsAbs(name) && path.Clean(name) == name &&
		name != ".." && !strings.HasPrefix(name, "../") && !strings.ContainsRune(name, 0) && name != headName && name != endName
}

// shown is a name in a message.
func shown(name string) string {
	if !utf8.ValidString(name) {
		name = strings.ToValidUTF8(name, "\uFFFD")
	}
	const most = 200
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name[:min(len(name), most)])
}
