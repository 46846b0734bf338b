package toolset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// planView shows a plan to a person.
type planView struct {
	show.Labelled
	sandbox string
}

// print shows all that the user has to see before approving, the most dangerous first.
// It reports whether it left nothing out.
func (v planView) print(p *registry.Plan) (whole bool) {
	whole = true
	style := v.Out.Style()
	version := p.Manifest.Version
	if p.Installed != nil && p.Installed.Version != version {
		version = p.Installed.Version + " → " + version
	}
	from := path.Base(strings.ReplaceAll(p.Source.Ref, `\`, "/"))
	if strings.Contains(p.Source.Ref, "://") {
		from = p.Source.Ref
	}
	v.Out.Printf("%s  (%s)  from %s, sha256 %s\n", style.Bold(consent.Line(p.Manifest.Name)+" "+consent.Line(version)), p.Manifest.ID, consent.Line(from), shortHash(p.BundleHash))
	if p.Installed != nil {
		whole = v.changes(p)
	} else {
		v.wants(p)
	}
	if missing := missingNames(p); len(missing) > 0 {
		v.Line("not set", strings.Join(missing, ", "), "in your environment")
	}
	for _, w := range p.Warnings {
		v.Line("warning", w, "")
	}
	for _, n := range p.Notes {
		v.Line("note", n, "")
	}
	if v.sandbox != "" {
		v.Line("sandbox", v.sandbox, "")
	}
	return whole
}

func shortHash(hash string) string {
	if len(hash) < 12 {
		return hash
	}
	return hash[:4] + "…" + hash[len(hash)-4:]
}

func usedBy(u registry.Variable) string {
	switch {
	case u.Tools && len(u.Servers) > 0:
		return "passed to its tools and to " + strings.Join(u.Servers, ", ")
	case len(u.Servers) > 0:
		return "passed to " + strings.Join(u.Servers, ", ")
	}
	return "passed to its tools"
}

// changes shows what differs from the installed version. What waits for an
// approval comes first and is marked. It reports whether it shows all of each change.
func (v planView) changes(p *registry.Plan) (whole bool) {
	whole = true
	list := slices.Clone(p.Changes)
	slices.SortStableFunc(list, func(a, b registry.Change) int {
		switch {
		case a.Asks == b.Asks:
			return 0
		case a.Asks:
			return -1
		}
		return 1
	})
	for _, c := range list {
		about := ""
		if c.Asks {
			about = "needs your approval"
		}
		v.Line(c.Change, show.KindWords(c.Kind)+" "+c.Name, about)
		if c.Change == "removed" {
			continue
		}
		for _, f := range c.Fields {
			whole = v.Change(f) && whole
		}
	}
	if len(p.FileChanges) > 0 {
		counts := map[string]int{}
		for _, f := range p.FileChanges {
			counts[f.Change]++
		}
		var parts []string
		for _, word := range []string{"added", "changed", "removed"} {
			if counts[word] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", counts[word], word))
			}
		}
		v.Line("files", strings.Join(parts, ", "), fileNames(p.FileChanges))
	}
	if len(p.Changes)+len(p.FileChanges) == 0 && !p.Same {
		v.Line("changed", "nothing but what it says of itself", "")
	}
	return whole
}

func fileNames(changes []registry.FileChange) string {
	const most = 3
	var names []string
	for _, f := range changes[:min(len(changes), most)] {
		names = append(names, f.Path)
	}
	if len(changes) > most {
		names = append(names, fmt.Sprintf("and %d more", len(changes)-most))
	}
	return strings.Join(names, ", ")
}

// details shows every item with all of its fields.
func (v planView) details(items []registry.Item, width int) {
	for _, it := range items {
		var b strings.Builder
		show.Whole(&b, "", show.KindWords(it.Kind)+" "+consent.Line(it.Name), width)
		for _, f := range it.Fields {
			if line := f.Name + ": " + consent.Text(f.Value); !strings.Contains(line, "\n") && term.Cells(line) < width-2 {
				fmt.Fprintf(&b, "  %s\n", line)
				continue
			}
			fmt.Fprintf(&b, "  %s:\n", f.Name)
			show.Whole(&b, "    ", f.Value, width)
		}
		v.Out.WriteString(b.String())
	}
}

// toolsetPlanJSON is what `toolset import --output json` prints.
type toolsetPlanJSON struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	Name          string `json:"name"`
	Version       string `json:"version"`
	Description   string `json:"description"`
	Kind          string `json:"kind"` // toolset, mcpb or skill
	SourceType    string `json:"source_type"`
	SourceRef     string `json:"source_ref"`
	BundleSHA256  string `json:"bundle_sha256"`
	Hash          string `json:"hash"`
	Installed     bool   `json:"installed"` // by this command, or before
	Same          bool   `json:"same"`
	Asks          bool   `json:"asks"`
	// InstalledVersion is the version that was there before.
	InstalledVersion string                `json:"installed_version,omitempty"`
	Files            int                   `json:"files"`
	Bytes            int64                 `json:"bytes"`
	Items            []registry.Item       `json:"items"`
	Variables        []registry.Variable   `json:"variables"`
	Changes          []registry.Change     `json:"changes"`
	FileChanges      []registry.FileChange `json:"file_changes"`
	Notes            []string              `json:"notes"`
	Warnings         []string              `json:"warnings"`
}

func planJSON(p *registry.Plan, installed bool) toolsetPlanJSON {
	out := toolsetPlanJSON{
		SchemaVersion: workbench.OutputVersion, ID: p.Manifest.ID, Name: p.Manifest.Name, Version: p.Manifest.Version,
		Description: p.Manifest.Description, Kind: string(p.Kind), SourceType: p.Source.Type, SourceRef: p.Source.Ref,
		BundleSHA256: p.BundleHash, Hash: p.Hash, Installed: installed || p.Same, Same: p.Same, Asks: p.Asks(), Files: len(p.Files),
		Items: workbench.OrEmpty(p.Items), Variables: workbench.OrEmpty(p.Variables), Changes: workbench.OrEmpty(p.Changes), FileChanges: workbench.OrEmpty(p.FileChanges),
		Notes: workbench.OrEmpty(p.Notes), Warnings: workbench.OrEmpty(p.Warnings),
	}
	for _, f := range p.Files {
		out.Bytes += f.Size
	}
	if p.Installed != nil {
		out.InstalledVersion = p.Installed.Version
	}
	return out
}
