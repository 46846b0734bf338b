package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
)

// landings are the steps that measure the landing of a call that changed none, one and a
// hundred files. The layer is written as an overlay leaves it, without the sandbox.
func (b *casBench) landings(repo string) (steps []func() error) {
	for _, k := range []int{0, 1, 100} {
		layer := filepath.Join(b.dir, "layer")
		steps = append(steps,
			func() error { return errors.Join(b.change(0)(), b.gitDo(repo, "", b.gitAdd)) },
			func() error { return b.layer(layer, k) },
			func() error {
				return b.timed(fmt.Sprintf("landing, %d changed", k), func() error { return b.land(layer) })
			},
			func() error { return b.gitDo(repo, fmt.Sprintf("git add, %d landed", k), b.gitAdd) },
			func() error { return cas.DropLayer(layer) },
		)
	}
	return steps
}

// layer makes a layer in which k files of the workspace have other content.
func (b *casBench) layer(layer string, k int) error {
	<-time.After(50 * time.Millisecond) // what was written before is older than the mount
	about := cas.LayerMeta{ChatID: "bench", CallID: "call", ManifestID: b.active.ID}
	if _, err := cas.NewLayer(layer, b.ws, about); err != nil {
		return err
	}
	for i := range k {
		b.edits++
		rel, err := filepath.Rel(b.work, b.paths[(i*(b.n/k)+b.edits*7)%b.n])
		if err != nil {
			return err
		}
		path := filepath.Join(layer, "upper", rel)
		text := fmt.Sprintf("edit %d\n%s", b.edits, strings.Repeat("changed ", 100))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// land reads the layer and brings it into the workspace.
func (b *casBench) land(layer string) error {
	ctx, limits := context.Background(), cas.Limits{KeepFree: -1}
	p, err := b.store.ReadLayer(ctx, b.ws, layer, cas.LayerOptions{ChatID: "bench", Parent: b.active, Limits: limits})
	if err != nil {
		return err
	}
	defer p.Close()
	got, err := b.store.Land(ctx, b.ws, p, cas.LandOptions{About: cas.About{ChatID: "bench", Source: cas.ToolRun}, Parent: b.active})
	if err != nil {
		return err
	}
	if len(got.Conflicts) > 0 {
		return fmt.Errorf("%d conflicts", len(got.Conflicts))
	}
	b.active = got.After
	return nil
}
