package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
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
	raw, err := os.ReadFile(filepath.Join(dataDir, NoteFile))
	if err != nil {
		return Note{}, err
	}
	var n Note
	if err := json.Unmarshal(raw, &n); err != nil {
		return Note{}, fmt.Errorf("read %s: %w", NoteFile, err)
	}
	return n, nil
}

// writeNote replaces the note as a whole.
func writeNote(dataDir string, n Note) (err error) {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dataDir, NoteFile+".*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dataDir, NoteFile))
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
	return os.Remove(filepath.Join(dataDir, NoteFile))
}
