package bundle

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/pystdlib"
)

// Kind is what sort of bundle it is.
type Kind string

// The kinds. Toolset is ours; the others are turned into one.
const (
	Toolset Kind = "toolset"
	MCPB    Kind = "mcpb"
	Skill   Kind = "skill"
)

// ManifestFile is the file that makes a bundle one of the kind.
func (k Kind) ManifestFile() string {
	switch k {
	case MCPB:
		return "manifest.json"
	case Skill:
		return "SKILL.md"
	}
	return "toolset.yaml"
}

// limits are the bounds of one kind.
type limits struct {
	entries        int
	entry, total   int64
	manifest       int64
	ratio, ratioOf int64 // how often an entry of ratioOf bytes or more may be its compressed size
}

const (
	mib = 1 << 20
	// maxEntries is the most of any kind, for what is read before the kind is
	// known. A directory of so many takes a few megabytes.
	maxEntries = 10_000
	// maxArchive bounds the packed bytes of any kind.
	maxArchive = 256 * mib
)

// limits gives the bounds. A toolset is text and a few pictures; an MCP bundle
// brings its libraries along.
func (k Kind) limits() limits {
	l := limits{entries: 2_000, entry: 16 * mib, total: 64 * mib, manifest: 256 << 10, ratio: 200, ratioOf: mib}
	if k == MCPB {
		l.entries, l.entry, l.total, l.manifest = maxEntries, 64*mib, 256*mib, mib
	}
	return l
}

// entry is one place of a bundle, before it is known to be a good one.
type entry struct {
	raw    string // as the archive has it, without a folder's slash
	path   string // in the bundle
	dir    bool
	size   int64 // as told
	packed int64 // compressed; -1 where that isn't known
	exec   bool  // it asks to be executable, or worse
	index  int   // among the source's contents
	sha256 [32]byte
}

// layout is what a bundle's names say.
type layout struct {
	kind    Kind
	entries []entry // what belongs to it
	notes   []Note
}

// arrange judges the names of all entries and finds out what bundle they are.
// own tells that it is a folder of the user's, where what doesn't belong is
// left out rather than refused.
func arrange(all []entry, own bool) (*layout, error) {
	ps := newPlaces(len(all))
	for _, e := range all {
		if err := checkName(e.raw); err != nil {
			return nil, err
		}
		if err := ps.add(e.raw, e.dir); err != nil {
			return nil, err
		}
	}
	if err := ps.files(); err != nil {
		return nil, err
	}
	l := &layout{}
	kept := l.withoutLitter(all)
	l.unwrap(kept)
	if err := l.find(kept); err != nil {
		return nil, err
	}
	for _, e := range kept {
		why := l.kind.misplaced(e.path, e.dir)
		switch {
		case why == "":
			l.entries = append(l.entries, e)
		case own:
			l.leaveOut(e.path, why)
		default:
			return nil, refuse(TopLevel, e.path, "%s", why)
		}
	}
	l.noteModules()
	return l, l.bounds()
}

func (l *layout) note(code, p, format string, args ...any) {
	l.notes = append(l.notes, Note{Code: code, Path: p, Msg: fmt.Sprintf(format, args...)})
}

// leaveOut notes what a folder has and a bundle doesn't, each place once.
func (l *layout) leaveOut(p, why string) {
	top, _, deep := strings.Cut(p, "/")
	if deep && slices.ContainsFunc(l.notes, func(n Note) bool { return n.Path == top+"/" || n.Path == top }) {
		return
	}
	l.note(NoteLeftOut, p, "left out: %s", why)
}

// withoutLitter drops what macOS and Windows add by themselves.
func (l *layout) withoutLitter(all []entry) []entry {
	kept := make([]entry, 0, len(all))
	dropped := 0
	for _, e := range all {
		e.path = e.raw
		top, _, _ := strings.Cut(e.raw, "/")
		switch base := path.Base(e.raw); {
		case top == "__MACOSX", base == ".DS_Store" && !e.dir, base == "Thumbs.db" && !e.dir, base == "desktop.ini" && !e.dir:
			dropped++
		default:
			kept = append(kept, e)
		}
	}
	if dropped > 0 {
		l.note(NoteLeftOut, "", "%d files that macOS or Windows added were left out", dropped)
	}
	return kept
}

// unwrap takes off the one folder in which everything lies.
func (l *layout) unwrap(kept []entry) {
	if len(kept) == 0 {
		return
	}
	top, _, _ := strings.Cut(kept[0].raw, "/")
	manifest := false
	for _, e := range kept {
		first, rest, deep := strings.Cut(e.raw, "/")
		if first != top || !deep && !e.dir {
			return
		}
		manifest = manifest || isManifest(rest)
	}
	if !manifest {
		return
	}
	for i := range kept {
		_, kept[i].path, _ = strings.Cut(kept[i].raw, "/")
	}
	l.note(NoteFolder, top+"/", "everything lies in this folder")
}

func isManifest(p string) bool {
	return p == Toolset.ManifestFile() || p == MCPB.ManifestFile() || p == Skill.ManifestFile()
}

// find tells the kind by the manifest file that is there; where there is none,
// it is a toolset without one, and its other names are judged as such first.
func (l *layout) find(kept []entry) error {
	for _, k := range []Kind{Toolset, MCPB, Skill} {
		if slices.ContainsFunc(kept, func(e entry) bool { return e.path == k.ManifestFile() && !e.dir }) {
			l.kind = k
			return nil
		}
	}
	l.kind = Toolset
	for _, e := range kept {
		if why := l.kind.misplaced(e.path, e.dir); why != "" && strings.EqualFold(path.Base(e.path), Toolset.ManifestFile()) {
			return refuse(TopLevel, e.path, "%s", why)
		}
	}
	for _, e := range kept {
		if why := l.kind.misplaced(e.path, e.dir); why != "" {
			return refuse(TopLevel, e.path, "%s, and there is no toolset.yaml", why)
		}
	}
	return refuse(Manifest, "", "there is no toolset.yaml (nor an MCP bundle's manifest.json, nor a SKILL.md)")
}

// misplaced says why a path has no place in a bundle of the kind; empty if it
// has one.
func (k Kind) misplaced(p string, dir bool) string {
	if p == "" { // the wrapping folder itself
		return ""
	}
	top, rest, _ := strings.Cut(p, "/")
	if hidden := hiddenPart(p, k); hidden != "" {
		return "hidden files such as " + Printable(hidden) + " have no place in a bundle"
	}
	if k == MCPB {
		return ""
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "__pycache__" || part == "node_modules" {
			return Printable(part) + " can be made again, and can't be looked through"
		}
	}
	if !dir && compiledCode(p) {
		return "compiled code can't be looked through"
	}
	switch {
	case k == Skill:
		return ""
	case strings.EqualFold(p, "toolset.yaml") && p != "toolset.yaml":
		return "the manifest is called toolset.yaml, in small letters"
	case top == "tools" || top == "artifacts" || top == "assets":
		if rest != "" || dir {
			return ""
		}
	case rest == "" && !dir && topFile(top):
		return ""
	}
	return "at the top of a toolset there are toolset.yaml, README, LICENSE, NOTICE and CHANGELOG files, tools/, artifacts/ and assets/"
}

// hiddenPart finds a name that begins with a dot. Libraries inside an MCP
// bundle have such files; at its top, and wherever programs take orders from
// them, it can't have them either.
func hiddenPart(p string, k Kind) string {
	for i, part := range strings.Split(p, "/") {
		if !strings.HasPrefix(part, ".") {
			continue
		}
		lower := strings.ToLower(part)
		if k == MCPB && i > 0 && !strings.HasPrefix(lower, ".env") &&
			!slices.Contains([]string{".git", ".hg", ".svn", ".ssh", ".vscode", ".claude", ".cursor", ".mcp.json"}, lower) {
			continue
		}
		return part
	}
	return ""
}

// topFile tells whether a file may lie at the top of a toolset.
func topFile(name string) bool {
	if name == "toolset.yaml" {
		return true
	}
	base, ext, _ := strings.Cut(name, ".")
	switch strings.ToLower(ext) {
	case "", "md", "txt", "rst":
	default:
		return false
	}
	switch strings.ToUpper(base) {
	case "README", "LICENSE", "LICENCE", "COPYING", "NOTICE", "CHANGELOG":
		return true
	}
	return strings.HasPrefix(strings.ToUpper(base), "LICENSE-")
}

func compiledCode(p string) bool {
	name := strings.ToLower(path.Base(p))
	if strings.Contains(name, ".so.") {
		return true
	}
	switch path.Ext(name) {
	case ".pyc", ".pyo", ".pyd", ".so", ".dll", ".dylib", ".exe", ".com", ".scr", ".msi", ".o", ".a", ".lib", ".node", ".class", ".jar",
		".elf", ".pkl", ".pickle", ".egg", ".whl", ".pth":
		return true
	}
	return false
}

// noteModules warns of files that have the name of a module of Python's own.
func (l *layout) noteModules() {
	if l.kind != Toolset {
		return
	}
	for _, e := range l.entries {
		rest, ok := strings.CutPrefix(e.path, "tools/")
		if !ok {
			continue
		}
		first, _, deep := strings.Cut(rest, "/")
		name, py := strings.CutSuffix(first, ".py")
		if pystdlib.Standard(name) && (py && !deep || e.dir && !deep) {
			l.note(NoteShadow, e.path, "it has the name of a module of Python's own: other files reach that one only, and this as tools.%s", name)
		}
	}
}

// bounds checks numbers and told sizes.
func (l *layout) bounds() error {
	lim := l.kind.limits()
	if len(l.entries) > lim.entries {
		return refuse(Count, "", "it has %d entries; %d are allowed", len(l.entries), lim.entries)
	}
	total := int64(0)
	exec := 0
	for _, e := range l.entries {
		total += e.size
		switch {
		case e.packed >= 0 && e.size > lim.ratioOf && e.size/lim.ratio > e.packed:
			return refuse(Bomb, e.path, "it grows from %d bytes to %d", e.packed, e.size)
		case e.path == l.kind.ManifestFile() && e.size > lim.manifest:
			return refuse(Manifest, e.path, "it has %d bytes; %d are allowed", e.size, lim.manifest)
		case e.size > lim.entry:
			return refuse(Size, e.path, "it has %d bytes; %d are allowed", e.size, lim.entry)
		case total > lim.total:
			return refuse(Size, "", "it has more than %d bytes unpacked", lim.total)
		}
		if e.exec {
			exec++
		}
	}
	if exec > 0 {
		l.note(NoteExecutable, "", "%d files ask to be executable or more; nothing in a bundle is", exec)
	}
	return nil
}
