package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset"
)

// indexVersion is the form of toolsets.json that this program reads. Up to
// version 2 the file contained what the parts do now.
const indexVersion = 3

// Index is toolsets.json: the installed toolsets and MCP servers by name, with what is
// needed to choose among them. The contents of each of them are in a separate file, its
// part, so that a turn reads those parts alone that it uses, and a change writes those
// alone that it changed.
type Index struct {
	Version    int   `json:"mirror"`
	Generation int64 `json:"generation"`
	// Toolsets are all installed toolsets, by id.
	Toolsets []IndexedToolset `json:"toolsets,omitempty"`
	// Servers are all MCP servers, by id.
	Servers  []IndexedServer          `json:"mcp_servers,omitempty"`
	Builtins map[string]BuiltinChange `json:"builtins,omitempty"`
}

// IndexedToolset is one toolset in the index.
type IndexedToolset struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Version  string        `json:"version"`
	Revision string        `json:"revision"`
	Enabled  bool          `json:"enabled"`
	Problem  string        `json:"problem,omitempty"`
	Least    toolset.Level `json:"least"`
	// Env are the variables that the user granted to its tools.
	Env []string `json:"env,omitempty"`
	// Tools are the bare ids of all its tools, Offered how many of them can be
	// used if the toolset can.
	Tools   []string `json:"tools,omitempty"`
	Offered int      `json:"offered,omitempty"`
	// Entry is the bare id of the agent that new chats begin with; empty for none.
	Entry string `json:"entry,omitempty"`
	// Shows reports whether it has payloads or pages, which any turn may need.
	Shows bool `json:"shows,omitempty"`
	// Part is the SHA-256 of its part.
	Part string `json:"part"`
}

// IndexedServer is one MCP server in the index.
type IndexedServer struct {
	ID         string   `json:"id"`
	DeclaredBy []string `json:"declared_by,omitempty"`
	// Tools are the ids of its tools, Usable reports whether they may be offered.
	Tools  []string `json:"tools,omitempty"`
	Usable bool     `json:"usable,omitempty"`
	// Texts are the parts of its configuration that may name variables.
	Texts []string `json:"texts,omitempty"`
	// Part is the SHA-256 of its part.
	Part string `json:"part"`
}

// Usable reports whether its tools may be offered and run, apart from the
// switches and problems of single tools.
func (t *IndexedToolset) Usable() bool { return t.Enabled && t.Problem == "" }

// Wanted chooses the parts that are read. A nil function chooses all.
type Wanted struct {
	Toolset func(*IndexedToolset) bool
	Server  func(*IndexedServer) bool
}

// None chooses no parts: what is left is the generation and the builtin tools.
func None() Wanted {
	return Wanted{func(*IndexedToolset) bool { return false }, func(*IndexedServer) bool { return false }}
}

// OneToolset chooses the part of one toolset.
func OneToolset(id string) Wanted {
	w := None()
	w.Toolset = func(t *IndexedToolset) bool { return t.ID == id }
	return w
}

func mirrorFile(dataDir string) string { return filepath.Join(dataDir, "toolsets.json") }

// partsDir is the folder of the parts. They are made from the records again where
// they are missing, so it is below cache.
func partsDir(dataDir string) string { return filepath.Join(dataDir, "cache", "toolsets") }

func partFile(dataDir, sum string) string { return filepath.Join(partsDir(dataDir), sum+".json") }

// maxMirror bounds what is read: the index of some 100,000 toolsets, or a part
// with the largest manifest.
const maxMirror = 64 << 20

// ReadIndex reads toolsets.json without the store. Where no toolset was ever
// imported the index is empty. The error is [ErrNoMirror] where it has to be
// written again, which [Registry.Mirror] does: the file is missing, damaged, or
// another version's.
func ReadIndex(dataDir string) (*Index, error) {
	path := mirrorFile(dataDir)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// a change begins by removing the mirror, and no change is without the lock's folder
		if _, err := os.Stat(filepath.Join(dataDir, mirrorMark)); errors.Is(err, fs.ErrNotExist) {
			return &Index{Version: indexVersion}, nil
		}
		return nil, ErrNoMirror
	}
	if err != nil || info.Size() > maxMirror {
		return nil, ErrNoMirror
	}
	data, err := atomicfile.ReadFile(path)
	if err != nil {
		return nil, ErrNoMirror
	}
	var version struct {
		Version int `json:"mirror"`
	}
	x := new(Index)
	if json.Unmarshal(data, &version) != nil || version.Version != indexVersion || json.Unmarshal(data, x) != nil {
		return nil, ErrNoMirror
	}
	return x, nil
}

// mirrorMark exists from the first change on, so that a data directory without a mirror
// is known to be new or to lack it.
const mirrorMark = "toolsets"

// ReadMirror reads the index and all parts, without the store; the error is as
// [ReadIndex] has it.
func ReadMirror(dataDir string) (*Mirror, error) { return ReadParts(dataDir, Wanted{}) }

// ReadParts reads the index and the wanted parts.
func ReadParts(dataDir string, want Wanted) (*Mirror, error) {
	// A change may remove a part between the reading of the index and of the part.
	const attempts = 5
	for range attempts {
		x, err := ReadIndex(dataDir)
		if err != nil {
			return nil, err
		}
		m, err := x.Read(dataDir, want)
		if err == nil {
			return m, nil
		}
		if now, err := ReadIndex(dataDir); err != nil || now.Generation == x.Generation {
			return nil, ErrNoMirror
		}
	}
	return nil, ErrNoMirror
}

// Read reads the wanted parts of an index. The error is [ErrNoMirror] if one is missing
// or damaged: then the index is an old one, or the parts have to be written again.
func (x *Index) Read(dataDir string, want Wanted) (*Mirror, error) {
	m := &Mirror{Generation: x.Generation, Builtins: x.Builtins}
	for i := range x.Toolsets {
		t := &x.Toolsets[i]
		if want.Toolset != nil && !want.Toolset(t) {
			continue
		}
		var part MirrorToolset
		if err := readPart(dataDir, t.Part, &part); err != nil {
			return nil, err
		}
		m.Toolsets = append(m.Toolsets, part)
	}
	for i := range x.Servers {
		s := &x.Servers[i]
		if want.Server != nil && !want.Server(s) {
			continue
		}
		var part MirrorServer
		if err := readPart(dataDir, s.Part, &part); err != nil {
			return nil, err
		}
		m.Servers = append(m.Servers, part)
	}
	return m, nil
}

// readPart reads a part, whose content must match the hash in its name.
func readPart(dataDir, sum string, into any) error {
	data, err := atomicfile.ReadFile(partFile(dataDir, sum))
	if err != nil || sumOfPart(data) != sum || json.Unmarshal(data, into) != nil {
		return ErrNoMirror
	}
	return nil
}

func sumOfPart(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// indexToolset makes a toolset's entry in the index; part is its part as JSON.
func indexToolset(t *MirrorToolset, part []byte) IndexedToolset {
	out := IndexedToolset{
		ID: t.ID, Name: t.Name, Version: t.Version, Revision: t.Revision, Enabled: t.Enabled, Problem: t.Problem,
		Least: t.Least, Env: t.Granted.Env, Shows: len(t.Payloads)+len(t.Pages) > 0, Part: sumOfPart(part),
	}
	for i := range t.Tools {
		out.Tools = append(out.Tools, t.Tools[i].Tool.BareID())
		if t.Tools[i].Usable() {
			out.Offered++
		}
	}
	for _, a := range t.Agents {
		if a.Entry {
			out.Entry = a.ID
		}
	}
	return out
}

// indexServer makes a server's entry in the index; part is its part as JSON.
func indexServer(s *MirrorServer, part []byte) IndexedServer {
	out := IndexedServer{ID: s.ID, DeclaredBy: s.DeclaredBy, Usable: s.Unusable == "", Part: sumOfPart(part)}
	for _, t := range s.Tools {
		out.Tools = append(out.Tools, t.Tool.ID)
	}
	texts := slices.Concat([]string{s.Config.Command, s.Config.URL, s.Settings.ClientID, s.Settings.ClientSecret}, s.Config.Args)
	for _, values := range []map[string]string{s.Config.Env, s.Config.Headers} {
		for _, v := range values {
			texts = append(texts, v)
		}
	}
	out.Texts = slices.DeleteFunc(texts, func(text string) bool { return !strings.Contains(text, "$") })
	slices.Sort(out.Texts) // the same index for the same records
	return out
}
