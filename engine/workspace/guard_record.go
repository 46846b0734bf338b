package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset/gitguard"
)

const (
	// GuardsName is the folder of the records in the data directory.
	GuardsName = "guards"
	// guardVersion is the version of a record.
	guardVersion = 1
)

// guardRecord is what a process compares a folder with that tools may write to.
type guardRecord struct {
	Version int             `json:"version"`
	Folder  []byte          `json:"folder"` // bytes, since not every path is UTF-8
	Before  *gitguard.Found `json:"before"`
	Rules   *savedRules     `json:"rules,omitempty"`
	// Restore reports that a call ran that no sandbox kept from existing repositories.
	Restore bool `json:"restore,omitempty"`
}

// savedRules are ignoreRules in a record.
type savedRules struct {
	Exists bool        `json:"exists"`
	Body   []byte      `json:"body,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
}

// note writes the record of the guard. Its lock is held as long as this process is the one
// that makes the check. The caller holds g.mu.
func (g *Guard) note(ctx context.Context) error {
	if g.record == "" {
		sum := sha256.Sum256([]byte(g.path))
		g.record = hex.EncodeToString(sum[:8]) + "-" + rand.Text()
	}
	name := g.record
	record := guardRecord{Version: guardVersion, Folder: []byte(g.path), Before: g.before, Restore: g.restores(ctx)}
	if r := g.rules; r != nil {
		record.Rules = &savedRules{r.exists, r.body, r.mode}
	}
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("note the repositories of %s: %w", g.path, err)
	}
	file := filepath.Join(g.e.Options.DataDir, GuardsName, name+".json")
	if g.end == nil {
		release, err := g.e.LockRecord(name)
		if err != nil {
			return err
		}
		g.end = func() {
			if err := atomicfile.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				g.e.Options.Notice("remove " + file + " by hand: " + err.Error())
			}
			release()
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("note the repositories of %s: %w", g.path, err)
	}
	// Cached: the start of the call is synced right after it, and a kill loses nothing.
	return atomicfile.Write(file, data, atomicfile.Cached)
}

// CheckCutOff checks the folders of the user's in which processes of fettle were killed
// while tools could write there. It returns warnings for the user.
func (w *Folders) CheckCutOff(ctx context.Context) (warnings []string) {
	dir := filepath.Join(w.Options.DataDir, GuardsName)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there are none
	}
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), ".json")
		if !isRecord || ctx.Err() != nil {
			continue
		}
		path, err := w.LockPath("guard-" + name)
		if err != nil {
			continue
		}
		release, free, err := lockfile.Try(path)
		if err != nil || !free {
			continue // its process lives
		}
		found, done := w.checkRecord(ctx, filepath.Join(dir, entry.Name()))
		warnings = append(warnings, found...)
		if done {
			_ = atomicfile.Remove(filepath.Join(dir, entry.Name())) // the next command tries again
		}
		release()
	}
	return warnings
}

// checkRecord checks one folder, and reports whether its record is no longer needed.
func (w *Folders) checkRecord(ctx context.Context, file string) (warnings []string, done bool) {
	data, err := atomicfile.ReadFile(file)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	var record guardRecord
	if err := json.Unmarshal(data, &record); err != nil || record.Version != guardVersion || record.Before == nil {
		return []string{"a record of a tool that was cut off can't be read, so its folder is not checked: look for new .git folders before you run git there"}, true
	}
	path := string(record.Folder)
	root, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		return []string{Unchecked(path, err)}, false
	}
	defer root.Close()
	ctx, cancel := context.WithTimeout(ctx, GuardTime)
	defer cancel()
	g := &Guard{e: w, path: path, before: record.Before}
	if r := record.Rules; r != nil {
		g.rules = &ignoreRules{r.Exists, r.Body, r.Mode}
	}
	warnings, err = g.checkWith(ctx, root, gitguard.Options{Restore: record.Restore})
	for i := range warnings {
		warnings[i] = "fettle ended while a tool could write to " + path + ": " + warnings[i]
	}
	if err != nil {
		warnings = append(warnings, Unchecked(path, err))
	}
	return warnings, err == nil
}

// NoticeCutOff is CheckCutOff for what has no turn: warnings become notices.
func (w *Folders) NoticeCutOff(ctx context.Context) {
	for _, text := range w.CheckCutOff(ctx) {
		w.Options.Notice(text)
	}
}
