package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Exported tells what an export holds.
type Exported struct {
	Toolset Toolset
	Files   int
	Bytes   int64
	// Hidden are the variables that stand for what is or may be a secret.
	Hidden []string
	// Notes are for people, each one printable line.
	Notes []string
}

// ExportOptions is how a toolset is written.
type ExportOptions struct {
	// Progress hears how many bytes of the files were read, and of how many.
	Progress func(done, total int64)
}

// Export writes an installed toolset as a ZIP: its toolset.yaml made of the
// records, and its files as they were imported. The bytes depend on nothing
// but the records. What is on the disk is checked before anything is written.
func (r *Registry) Export(ctx context.Context, id string, w io.Writer, o ExportOptions) (*Exported, error) {
	var info *Info
	err := r.view(ctx, func(tx *kv.Tx) (err error) { info, err = r.info(tx, id, true); return err })
	if err == nil && info == nil {
		err = &NotFoundError{What: "toolset", ID: id}
	}
	if err != nil {
		return nil, err
	}
	if info.Manifest == nil {
		return nil, &StateError{ID: id, Msg: damagedRecords}
	}
	dir, release, err := Use(r.o.DataDir, id, info.Toolset.Revision)
	if errors.Is(err, ErrGone) {
		return nil, &StateError{ID: id, Msg: "its files are not there", Fix: info.Toolset.reinstall()}
	}
	if err != nil {
		return nil, err
	}
	defer release()
	if damage := damaged(dir, info.Files); len(damage) > 0 {
		return nil, &StateError{
			ID: id, Msg: fmt.Sprintf("%s is not as it was imported: %s", bundle.Printable(damage[0].Path), damage[0].Reason),
			Fix: info.Toolset.reinstall(),
		}
	}
	return export(ctx, w, dir, info, o)
}

func export(ctx context.Context, w io.Writer, dir string, info *Info, o ExportOptions) (_ *Exported, err error) {
	out := &Exported{Toolset: info.Toolset}
	var m *manifest.Manifest
	m, out.Hidden = info.Manifest.WithoutSecrets()
	yaml, err := canonical(m)
	if err != nil {
		return nil, err
	}
	b, err := bundle.OpenFolder(ctx, dir, bundle.Options{Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, f := range info.Files {
		if got, ok := b.Find(f.Path); !ok || got.SHA256 != f.SHA256 {
			return nil, &StateError{
				ID: info.Toolset.ID, Msg: fmt.Sprintf("it can't be a toolset's ZIP: %s has no place in one", bundle.Printable(f.Path)),
				Fix: Fix{Kind: FixHandOn, Source: info.Toolset.SourceRef},
			}
		}
		out.Files, out.Bytes = out.Files+1, out.Bytes+f.Size
	}
	if slices.ContainsFunc(info.Tools, func(t ToolInfo) bool {
		return slices.ContainsFunc(t.Renderers, func(c RenderConfig) bool { return c.Priority != 0 })
	}) {
		out.Notes = append(out.Notes, "renderers that you set are not in it")
	}
	return out, b.WriteZIP(ctx, w, map[string][]byte{manifest.FileName: yaml})
}
