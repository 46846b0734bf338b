package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// NoteFile is the name of the file in the data directory that says where a server
// is.
const NoteFile = "serve.json"

// Note is what a running server says of itself. It holds no secret: the token is
// in a file of its own.
type Note struct {
	SchemaVersion int       `json:"schema_version"`
	PID           int       `json:"pid"`
	Version       string    `json:"version"`
	Address       string    `json:"address"`          // its URL, without the token
	URL           string    `json:"url,omitempty"`    // that a reverse proxy publishes
	Socket        string    `json:"socket,omitempty"` // path of the Unix socket
	StartedAt     time.Time `json:"started_at"`
}

// noteVersion rises when a field of a Note goes or changes its meaning.
const noteVersion = 1

// ReadNote reads the note of a data directory. It may be an old one: a server that
// was killed leaves it behind.
func ReadNote(dataDir string) (Note, error) {
	raw, err := atomicfile.ReadFile(filepath.Join(dataDir, NoteFile))
	if err != nil {
		return Note{}, err
	}
	var n Note
	if err := json.Unmarshal(raw, &n); err != nil {
		return Note{}, fmt.Errorf("read %s: %w", NoteFile, err)
	}
	return n, nil
}

// writeNote replaces the note. It isn't synced: it is of no use after a power cut.
func writeNote(dataDir string, n Note) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dataDir, NoteFile), append(raw, '\n'), atomicfile.Cached)
}

// removeNote takes the note back, if it is still this process's own.
func removeNote(dataDir string) error {
	n, err := ReadNote(dataDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && n.PID != os.Getpid() {
		return nil
	}
	if err != nil {
		return err
	}
	return atomicfile.Remove(filepath.Join(dataDir, NoteFile))
}
