package acp

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxBuffer bounds the text of a file that is taken from an editor: no tool edits a
	// larger one.
	maxBuffer = 16 << 20
	// saveTime bounds the wait until an editor has written a file, which it may format
	// before.
	saveTime = 30 * time.Second
)

// openFiles are the files that the editor has open in a session's folder, for the model's
// file tools.
type openFiles struct {
	a *agent
	s *session
}

var _ toolset.Editor = openFiles{}

// editorOf returns the editor as the tools of a session see it; nil where it offers
// neither to read nor to write files.
func (a *agent) editorOf(s *session) toolset.Editor {
	if fs := a.client.FS; !fs.ReadTextFile && !fs.WriteTextFile {
		return nil
	}
	return openFiles{a, s}
}

// pathOf is a file's path as the editor has it: below the folder that it opened, and not
// below where links lead.
func (o openFiles) pathOf(name string) (string, bool) {
	name = filepath.FromSlash(name)
	return filepath.Join(o.s.cwd, name), filepath.IsLocal(name)
}

// ReadText asks the editor for its text of a file.
func (o openFiles) ReadText(ctx context.Context, name string) (string, bool, error) {
	path, inside := o.pathOf(name)
	if !o.a.client.FS.ReadTextFile || !inside {
		return "", false, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, linkTime, errors.New("it did not answer in time"))
	defer cancel()
	var got readFileResult
	err := o.a.conn.call(ctx, "fs/read_text_file", readFileParams{SessionID: o.s.id, Path: path}, &got)
	var refused *rpcError
	switch {
	case errors.As(err, &refused) && refused.Code == codeNotFound:
		return "", false, nil
	case err != nil:
		return "", false, o.failure("fs/read_text_file", name, err)
	case got.Content == nil:
		return "", false, o.failure("fs/read_text_file", name, errors.New("its answer has no content"))
	case len(*got.Content) > maxBuffer:
		return "", false, o.failure("fs/read_text_file", name, errors.New("its text is larger than 16 MB"))
	}
	return *got.Content, true, nil
}

// WriteText has the editor replace the text of a file.
func (o openFiles) WriteText(ctx context.Context, name, text string) (bool, error) {
	path, inside := o.pathOf(name)
	if !o.a.client.FS.WriteTextFile || !inside {
		return false, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, saveTime, errors.New("it did not answer in time"))
	defer cancel()
	var got any // null, or an object that says nothing
	if err := o.a.conn.call(ctx, "fs/write_text_file", writeFileParams{SessionID: o.s.id, Path: path, Content: text}, &got); err != nil {
		return true, o.failure("fs/write_text_file", name, err)
	}
	return true, nil
}

// failure is an editor's error for the model, and a line of the log.
func (o openFiles) failure(method, name string, err error) error {
	text := sanitize.Cut(sanitize.Line(err.Error()), maxShownName)
	o.a.log.Warn("the editor failed to read or write a file", "method", method, "file", sanitize.Line(name), "error", text)
	return errors.New(text)
}
