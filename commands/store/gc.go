package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/toolset/python"
)

// packagesAsked is how long Python packages that no installed toolset needs stay
// after their last use, before store gc removes them: an import or a test that is
// under way just now.
const packagesAsked = time.Hour

// gcJSON is what `store gc --output json` prints.
type gcJSON struct {
	SchemaVersion int   `json:"schema_version"`
	States        int   `json:"states"`
	Folders       int   `json:"folders"`
	Files         int   `json:"files"`
	Bytes         int64 `json:"bytes"`
	Kept          int64 `json:"kept_bytes"`
	// Packages are the environments of Python packages that were removed.
	Packages     []packagesJSON `json:"packages"`
	PythonBytes  int64          `json:"python_bytes"`
	PackagesKept int64          `json:"packages_kept_bytes"`
}

func newStoreGC(rt *workbench.Runtime) *cli.Command {
	return storeCommand("gc", "remove what no chat needs any more", `Nothing that a state of a chat has is removed. It waits until no other command
is keeping a state. The store's files are rewritten only where that frees an eighth
of them. Python packages are removed, too, that no installed toolset needs and that
were not used within the last hour.`, "fettle store gc",
		func(ctx context.Context, output string) error { return runStoreGC(ctx, rt, output) })
}

func runStoreGC(ctx context.Context, rt *workbench.Runtime, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	w := rt.Work("store gc")
	w.Stage("looking for what no chat needs", 0)
	report, err := eng.ShrinkStates(ctx, func() { w.Stage("returning the freed space to the disk", 0) })
	var packages python.Pruned
	if err == nil {
		w.Stage("looking for Python packages that no toolset needs", 0)
		packages, err = rt.PrunePackages(ctx, eng, packagesAsked)
	}
	w.Stop()
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, gcJSON{
			workbench.OutputVersion, report.Manifests, report.Trees, report.Blobs, report.Bytes, report.Kept,
			packagesAsJSON(packages), packages.Bytes, packages.Kept,
		})
	}
	defer printPackages(rt.Streams.Out, packages)
	if report.Manifests+report.Trees+report.Blobs == 0 && report.Kept == 0 {
		rt.Streams.Out.Printf("nothing to remove: no files are kept yet\n")
		return nil
	}
	if report.Manifests+report.Trees+report.Blobs == 0 {
		rt.Streams.Out.Printf("nothing to remove: all of %s is needed\n", term.Size(report.Kept))
		return nil
	}
	var what []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{report.Manifests, "state", "states"}, {report.Trees, "folder", "folders"}, {report.Blobs, "file", "files"}} {
		if part.n > 0 {
			what = append(what, term.Count(part.n, part.one, part.many))
		}
	}
	stays := "nothing"
	if report.Kept > 0 {
		stays = term.Size(report.Kept)
	}
	rt.Streams.Out.Printf("removed %s: %s; %s stays\n", strings.Join(what, ", "), term.Size(report.Bytes), stays)
	return nil
}

// packagesJSON is one environment of Python packages that was removed.
type packagesJSON struct {
	Requirements []string `json:"requirements"`
	Python       string   `json:"python"`
	Bytes        int64    `json:"bytes"`
}

func packagesAsJSON(p python.Pruned) []packagesJSON {
	out := []packagesJSON{}
	for _, e := range p.Removed {
		out = append(out, packagesJSON{workbench.OrEmpty(e.Requirements), e.Python, e.Bytes})
	}
	return out
}

// printPackages says what was removed of Python packages, and what stays.
func printPackages(out *term.Output, p python.Pruned) {
	var names []string
	for _, e := range p.Removed {
		for _, r := range e.Requirements {
			if name, _, _ := strings.Cut(show.OneLine(r), " --hash="); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	stays := ""
	if p.Kept > 0 {
		stays = "; packages of " + term.Size(p.Kept) + " stay"
	}
	switch {
	case len(names) > 0:
		out.Printf("removed Python packages that no toolset needs, %s: %s%s\n", strings.Join(names, ", "), term.Size(p.Bytes), stays)
	case p.Bytes > 0:
		out.Printf("removed what was compiled of toolsets that are gone: %s%s\n", term.Size(p.Bytes), stays)
	case p.Kept > 0:
		out.Printf("Python packages: %s are needed, or were used just now\n", term.Size(p.Kept))
	}
}
