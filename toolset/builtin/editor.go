package builtin

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// content is what a tool reads of a file: the file on the disk, or the text that an editor
// has of it.
type content interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Size() int64
}

type diskContent struct {
	*os.File
	size int64
}

func (d diskContent) Size() int64 { return d.size }

type editorContent struct{ *strings.Reader }

func (editorContent) Close() error { return nil }

// openContent opens the text that the editor has of a file and has not saved, else the
// file. note says where the text is from, if the model has to know. The caller closes the
// content.
func openContent(ctx context.Context, ws *toolset.Workspace, at place) (c content, note string, err error) {
	text, unsaved, err := unsavedText(ctx, ws, at)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case unsaved:
		return editorContent{strings.NewReader(text)}, "this is the text in the editor, which is not saved yet", nil
	case at.Info == nil:
		return nil, "", notThere(ws, at)
	case err != nil:
		note = err.Error() + "; this is the file as it was saved last"
	}
	f, err := openRegular(ws, at)
	if err != nil {
		return nil, "", err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, "", wspath.Explain("read", at.Given, err)
	}
	return diskContent{f, info.Size()}, note, nil
}

// unsavedText returns the text that the editor has of a file, if it differs from the disk.
// Editors keep line endings and the byte-order mark apart from the text, so a difference in
// these alone is none. Only files that can be edited as text are asked for.
func unsavedText(ctx context.Context, ws *toolset.Workspace, at place) (text string, unsaved bool, err error) {
	if ws.Editor == nil {
		return "", false, nil
	}
	var disk []byte
	if at.Info != nil {
		if disk, err = readDisk(ws, at); err != nil || len(disk) > maxWrite || !isUTF8Text(disk) {
			return "", false, nil // the caller reads the file, and reports what is wrong with it
		}
	}
	text, ok, err := ws.Editor.ReadText(ctx, at.Name)
	switch {
	case err != nil && at.Info == nil: // neither has such a file
		return "", false, nil
	case err != nil:
		return "", false, toolset.Errorf("the editor failed to return its text of %s, which may have changes that are not saved: %w", wspath.Show(at.Given), err)
	case !ok || at.Info != nil && sameText([]byte(text), disk):
		return "", false, nil
	case len(text) > maxWrite || !utf8.ValidString(text):
		return "", false, toolset.Errorf("the editor's text of %s is too large, or is not UTF-8", wspath.Show(at.Given))
	}
	return text, true, nil
}

// isUTF8Text reports whether a file is text that editors don't have to convert.
func isUTF8Text(raw []byte) bool {
	return sniff(raw[:min(len(raw), sniffLength)]) == utf8Text && utf8.Valid(raw)
}

// readDisk reads a regular file up to one byte more than the tools write.
func readDisk(ws *toolset.Workspace, at place) ([]byte, error) {
	f, err := openRegular(ws, at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxWrite+1))
	if err != nil {
		return nil, wspath.Explain("read", at.Given, err)
	}
	return raw, nil
}

// sameText reports whether two texts differ in nothing but line endings and the byte-order
// mark.
func sameText(a, b []byte) bool { return bytes.Equal(bareText(a), bareText(b)) }

func bareText(raw []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(raw, []byte(bom)), []byte("\r\n"), []byte("\n"))
}

// writeContent replaces the content of the place: through the editor where there is one,
// else on the disk. The disk has the content afterwards in both cases, since the states of
// the workspace are taken of it. note is for the model, if the editor saved something else.
func writeContent(ctx context.Context, ws *toolset.Workspace, at place, content []byte) (note string, err error) {
	if ws.Editor == nil || !utf8.Valid(content) {
		return "", writeAtomic(ctx, ws, at, content)
	}
	if err := unchanged(ws, at); err != nil {
		return "", err
	}
	var before []byte
	if at.Info != nil {
		if before, err = readDisk(ws, at); err != nil {
			return "", err
		}
	}
	made, err := makeFolders(ws, path.Dir(at.Name))
	if err != nil {
		return "", err
	}
	ok, failed := ws.Editor.WriteText(ctx, at.Name, string(content))
	if !ok && failed == nil {
		return "", writeAtomic(ctx, ws, at, content)
	}
	now, after, err := diskNow(ws, at)
	if err != nil {
		return "", err
	}
	switch asBefore := (now.Info == nil) == (at.Info == nil) && bytes.Equal(before, after); {
	case now.Info != nil && sameText(after, content) && failed == nil:
		return "", nil
	case failed != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case failed != nil && asBefore:
		removeFolders(ws, made)
		return "", toolset.Errorf("the editor refused to write %s: %w; nothing was written", wspath.Show(at.Given), failed)
	case failed != nil:
		return "", toolset.Errorf("the editor reported an error, but %s has changed on the disk: %w; read it again", wspath.Show(at.Given), failed)
	case asBefore: // the editor has the text and did not save it
		return "", writeAtomic(ctx, ws, now, content)
	}
	return "; the editor saved it with changes of its own, such as formatting: read it again before the next edit", nil
}

// diskNow returns the place and its content as they are now.
func diskNow(ws *toolset.Workspace, at place) (place, []byte, error) {
	now, err := findWritable(ws, at.Given)
	if err != nil || now.Info == nil {
		return now, nil, err
	}
	raw, err := readDisk(ws, now)
	return now, raw, err
}

// makeFolders makes a folder with those above it, and returns the ones that did not exist,
// the topmost first. Editors do not make folders.
func makeFolders(ws *toolset.Workspace, dir string) (made []string, err error) {
	for at := dir; at != "."; at = path.Dir(at) {
		if _, err := ws.Root.Lstat(at); err == nil {
			break
		}
		made = append([]string{at}, made...)
	}
	for i, at := range made {
		if err := ws.Root.Mkdir(at, 0o777); err != nil && !os.IsExist(err) {
			removeFolders(ws, made[:i])
			return nil, wspath.Explain("make the folder", at, err)
		}
	}
	return made, nil
}

// removeFolders takes back makeFolders. A folder that something was put into stays.
func removeFolders(ws *toolset.Workspace, made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if info, err := ws.Root.Lstat(made[i]); err == nil && info.Mode().Type() == fs.ModeDir {
			_ = ws.Root.Remove(made[i]) // fails where it is not empty
		}
	}
}

// saveUnsaved writes to the disk what the editor has not saved of a file, so that the state
// of the workspace from before the call has it, and undo does not lose it.
func saveUnsaved(ctx context.Context, ws *toolset.Workspace, given string) error {
	at, err := findWritable(ws, given)
	if err != nil {
		return nil // the tool reports it
	}
	text, unsaved, err := unsavedText(ctx, ws, at)
	if err != nil || !unsaved {
		return err
	}
	_, err = writeContent(ctx, ws, at, []byte(text))
	return err
}
