package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// maxPut bounds a file that PutFile writes.
const maxPut = 1 << 30

// Put is a file that a person writes, and what it takes the place of.
type Put struct {
	Name    string // relative, with slashes
	Content io.Reader
	// Was is the SHA-256 that the file has to have now, as hexadecimal digits; New
	// says that it may not be there. Neither writes whatever is there.
	Was string
	New bool
}

// PutFile writes a file of the chat's folder, whole or not at all: a person's edit,
// and a step that Undo takes back. An editor, which has opened the file as it was some
// time ago, says so by Was or New, and nothing is written where it is another one by
// now. Of req it uses Chat, OnWait, Begin and Progress.
func (w *Folders) PutFile(ctx context.Context, req RestoreRequest, put Put) (*Restored, error) {
	if _, err := Changeable(put.Name); err != nil {
		return nil, err // before all of the content is taken
	}
	if _, err := w.Find(ctx, req.Chat, req.OnWait); err != nil {
		return nil, err
	}
	content, done, err := w.stage(ctx, put)
	if err != nil {
		return nil, err
	}
	defer done()
	return w.changeFolder(ctx, req, []string{put.Name}, func(ws *toolset.Workspace, before *cas.Manifest, names []string) error {
		if err := w.kept(ctx, before, put.Name); err != nil {
			return err
		}
		if err := w.holds(ctx, before, put); err != nil {
			return err
		}
		if put.New { // the folder knows of more than its state does
			if _, err := ws.Root.Lstat(names[0]); err == nil {
				return isThere(put)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return fault.Wrap(fault.Failed, "write "+put.Name, err)
			}
		}
		if err := putWhole(ws.Root, names[0], store.ReaderUntil(ctx, content)); err != nil {
			return fault.Wrap(fault.Failed, "write "+put.Name, err)
		}
		w.Pause("put:written")
		return nil
	})
}

// stage takes in the content of a put, to its end: who sends it may take their time,
// in which nobody else should have to wait for the chat and the folder.
func (w *Folders) stage(ctx context.Context, put Put) (content io.Reader, done func(), err error) {
	f, done, err := w.Snapshots.Scratch()
	if err != nil {
		return nil, nil, fault.Wrap(fault.Failed, "keep "+put.Name+" until it is all there", err)
	}
	n, err := io.Copy(f, io.LimitReader(store.ReaderUntil(ctx, put.Content), maxPut+1))
	if err == nil && n > maxPut {
		err = fmt.Errorf("it has more than %d MB", maxPut>>20)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, nil, fault.Wrap(fault.Failed, "take in "+put.Name, err)
	}
	return f, done, nil
}

// holds refuses a put whose file is another one than its client has read.
func (w *Folders) holds(ctx context.Context, before *cas.Manifest, put Put) error {
	if put.Was == "" && !put.New {
		return nil
	}
	entry, err := w.FileEntry(ctx, before, put.Name)
	there := err == nil
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	switch {
	case put.New && there:
		return isThere(put)
	case put.Was != "" && !there:
		return fault.New(fault.Busy, path.Clean(put.Name)+" was removed meanwhile; nothing was written")
	case put.Was != "" && entry.Digest.String() != put.Was:
		return fault.New(fault.Busy, path.Clean(put.Name)+" was changed meanwhile; nothing was written")
	}
	return nil
}

func isThere(put Put) error {
	return fault.New(fault.Busy, path.Clean(put.Name)+" is there already; nothing was written")
}

// RemoveFile removes a file of the chat's folder, or a folder with all in it: a
// person's edit, and a step that Undo takes back.
func (w *Folders) RemoveFile(ctx context.Context, req RestoreRequest, name string) (*Restored, error) {
	return w.changeFolder(ctx, req, []string{name}, func(ws *toolset.Workspace, before *cas.Manifest, names []string) error {
		if err := w.kept(ctx, before, name); err != nil {
			return err
		}
		if _, err := ws.Root.Lstat(names[0]); err != nil {
			return fault.Wrap(fault.NotFound, "remove "+name, err)
		}
		if err := ws.Root.RemoveAll(names[0]); err != nil {
			return fault.Wrap(fault.Failed, "remove "+name, err)
		}
		return nil
	})
}

// MoveFile gives a file or a folder of the chat's folder another name, which nothing
// may have: a person's edit, and a step that Undo takes back.
func (w *Folders) MoveFile(ctx context.Context, req RestoreRequest, from, to string) (*Restored, error) {
	return w.changeFolder(ctx, req, []string{from, to}, func(ws *toolset.Workspace, before *cas.Manifest, names []string) error {
		if err := w.kept(ctx, before, from); err != nil {
			return err
		}
		if names[1] == names[0] || strings.HasPrefix(names[1], names[0]+string(filepath.Separator)) {
			return fault.New(fault.Usage, from+" can't be moved into itself")
		}
		if _, err := ws.Root.Lstat(names[0]); err != nil {
			return fault.Wrap(fault.NotFound, "move "+from, err)
		}
		if _, err := ws.Root.Lstat(names[1]); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				return fault.New(fault.Busy, to+" is there already; nothing was moved")
			}
			return fault.Wrap(fault.Failed, "move "+from, err)
		}
		if dir := filepath.Dir(names[1]); dir != "." {
			if err := ws.Root.MkdirAll(dir, 0o755); err != nil {
				return fault.Wrap(fault.Failed, "make the folder of "+to, err)
			}
		}
		if err := ws.Root.Rename(names[0], names[1]); err != nil {
			return fault.Wrap(fault.Failed, "move "+from, err)
		}
		return nil
	})
}

// changeFolder lets a person change the chat's folder, between two states. names are
// paths in it, with slashes; do gets them as the system has them.
func (w *Folders) changeFolder(
	ctx context.Context, req RestoreRequest, names []string, do func(*toolset.Workspace, *cas.Manifest, []string) error,
) (*Restored, error) {
	local := make([]string, len(names))
	for i, name := range names {
		var err error
		if local[i], err = Changeable(name); err != nil {
			return nil, err
		}
	}
	return w.WithFolder(ctx, req, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		for _, name := range local {
			if err := UnderNoLink(ws.Root, name); err != nil {
				return nil, err
			}
			sweepPuts(ws.Root, filepath.Dir(name))
		}
		before, err := w.takeIn(ctx, &chat, ws, taking{About: cas.About{Source: cas.External}, watch: req.watch()})
		if err != nil {
			return nil, err
		}
		if err := do(ws, before, local); err != nil {
			return nil, err
		}
		after, err := w.takeIn(ctx, &chat, ws, taking{About: cas.About{Source: cas.Edit}})
		if err != nil {
			return nil, err
		}
		w.Pause("edit:kept")
		out := &Restored{Chat: chat, Before: before, After: after}
		for c, err := range w.DiffStates(ctx, before, after) {
			if err != nil { // the edit is made and kept: no error may say otherwise
				out.Changes, out.Untold = nil, store.StateFault("tell what was changed", err)
				break
			}
			out.Changes = append(out.Changes, c)
		}
		return out, nil
	})
}

// Changeable gives the system's form of a path with slashes that a person may change
// in a workspace.
func Changeable(name string) (string, error) {
	local := filepath.FromSlash(path.Clean(name))
	if !filepath.IsLocal(local) || local == "." || strings.ContainsRune(name, 0) || inGit(local) {
		return "", fault.New(fault.Usage, fmt.Sprintf("%s is no path in a workspace that can be changed", cas.EscapePath(name)))
	}
	return local, nil
}

// UnderNoLink refuses a path that leads over a link to a folder: what is behind it
// has another name, by which it may not be changed, or is in no state.
func UnderNoLink(root *os.Root, local string) error {
	for dir := filepath.Dir(local); dir != "."; dir = filepath.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fault.New(fault.Usage, fmt.Sprintf("%s is a link; name what is behind it by its own path", cas.EscapePath(filepath.ToSlash(dir))))
		}
	}
	return nil
}

// inGit tells whether a path is a part of a repository's own records, of which no
// state is kept: nothing could bring them back.
func inGit(name string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// kept refuses to touch what the state before it doesn't hold whole: undo could not
// bring it back.
func (w *Folders) kept(ctx context.Context, m *cas.Manifest, name string) error {
	name = path.Clean(name)
	for f, err := range w.Files(ctx, m) {
		if err != nil {
			return store.StateFault("look at the files", err)
		}
		if above := strings.HasPrefix(name, f.Path+"/"); f.Path != name && !strings.HasPrefix(f.Path, name+"/") && !above {
			continue
		}
		switch f.Entry.Kind {
		case cas.File, cas.Executable, cas.Link, cas.Folder:
		default:
			return fault.New(fault.Usage, fmt.Sprintf("%s could not be brought back, since no state has %s (%s)", cas.EscapePath(name), cas.EscapePath(f.Path), f.Entry.Kind), fault.Advise("use the system's own means for it"))
		}
	}
	return nil
}
