package workspace

import (
	"bytes"
	"context"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/internal/patch"
)

// Compared returns both versions of a path that differs, for a diff. What is neither a file
// nor a link on a side counts as absent there.
func (w *Folders) Compared(ctx context.Context, c cas.Change) (f patch.File, err error) {
	f.Path = c.Path
	if f.Old, err = w.comparedSide(ctx, c.Old); err != nil {
		return f, err
	}
	if f.New, err = w.comparedSide(ctx, c.New); err != nil {
		return f, err
	}
	f.OldMode, f.NewMode = patchModes(c)
	return f, nil
}

func (w *Folders) comparedSide(ctx context.Context, entry *cas.Entry) ([]byte, error) {
	switch {
	case entry == nil:
		return nil, nil
	case entry.Kind == cas.Link:
		return []byte(entry.Text), nil
	case entry.Kind != cas.File && entry.Kind != cas.Executable:
		return nil, nil
	}
	if entry.Size > patch.MaxText {
		// Two large files differ by their digests: that is all a diff has to show.
		return append([]byte{0}, entry.Digest[:]...), nil
	}
	var content bytes.Buffer
	err := w.ReadFile(ctx, &content, *entry)
	return content.Bytes(), err
}

// patchModes returns the modes of both sides in the form that patches have; "" where a side
// is neither a file nor a link. Git has two modes for files; other modes are included only
// if both sides recorded theirs.
func patchModes(c cas.Change) (old, new string) {
	exact := c.Old == nil || c.New == nil || c.Old.Perm.Known() && c.New.Perm.Known()
	mode := func(e *cas.Entry) string {
		switch {
		case e == nil:
			return ""
		case e.Kind == cas.Link:
			return "120000"
		case e.Kind == cas.Folder && c.PermsOnly():
			return fmt.Sprintf("04%04o", e.Perm.Bits())
		case e.Kind != cas.File && e.Kind != cas.Executable:
			return ""
		case exact && e.Perm.Known():
			return fmt.Sprintf("10%04o", e.Perm.Bits())
		case e.Kind == cas.Executable:
			return "100755"
		}
		return "100644"
	}
	return mode(c.Old), mode(c.New)
}
