package cas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// unfinished is the journal of a restore. It is on the disk before the first
// change in the folder and removed after the last.
type unfinished struct {
	Version int       `json:"version"`
	Path    string    `json:"path"`   // of the workspace
	Before  Digest    `json:"before"` // the tree that was found
	Target  Digest    `json:"target"`
	Stages  []string  `json:"stages"` // folders at the root for what is in motion
	ChatID  string    `json:"chat_id"`
	Started time.Time `json:"started"`
	// Record is the id of the manifest that the restore is recorded as, beside the
	// moving of names. Until that is done nobody takes it for one, and taking the
	// restore back removes it.
	Record string `json:"record,omitempty"`
	// Done tells that the restore is recorded; only the stages must go.
	Done bool `json:"done,omitempty"`
}

const (
	journalVersion = 1
	// journalEnd is what a journal that was written to its end ends with.
	journalEnd = "}\n"
)

// stagePrefix begins the names of the folders that a restore works in. They are
// in the workspace, since only there a rename is one step.
const stagePrefix = ".fettle-restore-"

func (s *Store) journalDir() string { return filepath.Join(s.dir, "restores") }

func (s *Store) journalPath(ws string) string { return filepath.Join(s.journalDir(), ws+".json") }

// errCutShort is a journal that a power cut has kept from the disk.
var errCutShort = errors.New("the journal isn't whole")

// readJournal gives a workspace's journal, or nil. One that was cut short while
// it was written is none: no name in the folder has been moved by then.
func (s *Store) readJournal(ws string) (*unfinished, error) {
	j, err := s.loadJournal(ws)
	if errors.Is(err, errCutShort) {
		return nil, nil
	}
	return j, err
}

// loadJournal is readJournal that tells of a journal that was cut short.
func (s *Store) loadJournal(ws string) (*unfinished, error) {
	text, err := os.ReadFile(s.journalPath(ws))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(text, []byte(journalEnd)) || bytes.IndexByte(text, 0) >= 0 {
		return nil, errCutShort
	}
	j := new(unfinished)
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.journalPath(ws), err)
	}
	if j.Version != journalVersion {
		return nil, fmt.Errorf("read %s: version %d is a newer program's", s.journalPath(ws), j.Version)
	}
	for _, stage := range j.Stages {
		// They are removed with all that is in them, so nothing else may be called one.
		if !strings.HasPrefix(stage, stagePrefix) || strings.Contains(stage, "/") {
			return nil, fmt.Errorf("read %s: %.80q is no folder of a restore", s.journalPath(ws), stage)
		}
	}
	return j, nil
}

// journalRoom is the size that a journal is made with: one block, which holds all
// but those of very long paths.
const journalRoom = 4 << 10

// journalFile is a journal that is being written.
type journalFile struct {
	f     *os.File
	named func() error // returns when the file, and its name, are on the disk
}

// makeJournal makes a workspace's journal without saying anything in it: zeros,
// which count as none. Its place and its name go to the disk meanwhile, so that what
// is written there later comes to the disk without the file system's own journal,
// for which all that is going on there would have to wait. It ends with begin or
// with drop.
func (s *Store) makeJournal(ws string) (*journalFile, error) {
	if err := s.check("journal", ""); err != nil {
		return nil, err
	}
	if err := makeDir(s.journalDir()); err != nil {
		return nil, err
	}
	if j, err := s.readJournal(ws); err != nil || j != nil {
		return nil, errors.Join(errors.New("another restore of the folder is under way"), err)
	}
	if err := ignoreMissing(os.Remove(s.journalPath(ws))); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.journalPath(ws), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(make([]byte, journalRoom)); err != nil {
		return nil, errors.Join(fmt.Errorf("write journal of a restore: %w", err), f.Close(), ignoreMissing(os.Remove(f.Name())))
	}
	// Both at once: most file systems bring them to the disk by one step.
	synced := make(chan error, 2)
	go func() { synced <- f.Sync() }()
	go func() { synced <- syncDir(s.journalDir()) }()
	return &journalFile{f: f, named: sync.OnceValue(func() error { return errors.Join(<-synced, <-synced) })}, nil
}

// begin says in the journal what a restore is about to do. That survives the death
// of the process from then on, and a power cut once durable has returned nil, which
// may be called again and must be called once: the stage is filled meanwhile.
func (s *Store) beginJournal(w *journalFile, j *unfinished) (durable func() error, err error) {
	text, err := padded(j)
	if err == nil {
		_, err = w.f.WriteAt(text, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write journal of a restore: %w", err), w.drop())
	}
	synced := make(chan error, 1)
	go func() {
		err := syncData(w.f) // beside the making, where that still goes on
		synced <- errors.Join(err, w.named(), w.f.Close())
	}()
	return sync.OnceValue(func() error {
		err := errors.Join(s.check("journalsync", ""), <-synced)
		if err != nil {
			err = fmt.Errorf("write journal of a restore: %w", err)
		}
		return err
	}), nil
}

// drop takes back a journal in which nothing was said.
func (w *journalFile) drop() error {
	_ = w.named() // whoever syncs it has ended
	return errors.Join(w.f.Close(), ignoreMissing(os.Remove(w.f.Name())))
}

// padded is a journal that fills its room, with spaces before its end: where a power
// cut has kept a part of it from the disk there are zeros left.
func padded(j *unfinished) ([]byte, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1]
	if room := journalRoom - len(journalEnd) - len(text); room > 0 {
		text = append(text, bytes.Repeat([]byte{' '}, room)...)
	}
	return append(text, journalEnd...), nil
}

// unrecorded are the ids of the manifests that restores under way, or cut short,
// may have recorded: what they say isn't so yet. A journal that can't be read is
// told of by the next operation on its folder.
func (s *Store) unrecorded() map[string]bool {
	entries, err := os.ReadDir(s.journalDir())
	if err != nil {
		return nil
	}
	ids := make(map[string]bool)
	for _, e := range entries {
		ws, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		if j, err := s.readJournal(ws); err == nil && j != nil && j.Record != "" && !j.Done {
			ids[j.Record] = true
		}
	}
	return ids
}

// writeJournal replaces a workspace's journal, and returns when it is on the
// disk; that a restore is done need not be, since after a power cut the folder,
// which isn't synced, may be anything.
func (s *Store) writeJournal(ws string, j *unfinished) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := s.check("journal", ""); err != nil {
		return err
	}
	f, err := s.tempFile()
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil && !j.Done {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.journalPath(ws))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write journal of a restore: %w", err), ignoreMissing(os.Remove(f.Name())))
	}
	if j.Done {
		return nil
	}
	return syncDir(s.journalDir())
}

func (s *Store) dropJournal(ws string) error {
	if err := s.check("journal", ""); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(s.journalPath(ws)))
}

// journals lists all journals, for the collector: what they name is needed.
func (s *Store) journals() ([]*unfinished, error) {
	entries, err := os.ReadDir(s.journalDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []*unfinished
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) != ".json" {
			continue
		}
		j, err := s.readJournal(name[:len(name)-len(".json")])
		if err != nil {
			return nil, err
		}
		if j != nil {
			out = append(out, j)
		}
	}
	return out, nil
}
