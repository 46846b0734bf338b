package modelcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

const (
	// version is that of the files; a reader takes no other.
	version = 1
	// maxFile bounds what is read; a list of a thousand models has 200 KB.
	maxFile = 8 << 20
	// maxModels and maxText bound what is kept of a list.
	maxModels = 10_000
	maxText   = 512
	// maxFiles bounds how many providers All looks at.
	maxFiles = 256
	// filePrefix keeps a provider's name from being one that Windows reserves.
	filePrefix = "list-"
	fileSuffix = ".json"
)

// Cache is a folder of lists. Make it with New.
type Cache struct{ dir string }

// New names the folder; Put makes it.
func New(dir string) *Cache { return &Cache{dir: dir} }

// List is what one provider said.
type List struct {
	Provider string
	// Address is where it listens; a list of another address is not this
	// provider's.
	Address string
	Asked   time.Time
	// Models are in the provider's order, best first where it has one.
	Models []provider.Model
}

// file is the form on disk.
type file struct {
	Version  int       `json:"version"`
	Provider string    `json:"provider"`
	Address  string    `json:"address"`
	Asked    time.Time `json:"asked_at"`
	Models   []entry   `json:"models"`
}

type entry struct {
	Name          string `json:"name"`
	ContextLength int    `json:"context_length,omitempty"`
	Tools         *bool  `json:"tools,omitempty"`
	Images        *bool  `json:"images,omitempty"`
	Thinking      *bool  `json:"thinking,omitempty"`
	Schema        *bool  `json:"schema,omitempty"`
	Size          int64  `json:"size,omitempty"`
	Details       string `json:"details,omitempty"`
	Remote        bool   `json:"remote,omitempty"`
	Created       int64  `json:"created,omitempty"` // seconds since 1970
}

// Get gives the list of a provider at this address.
func (c *Cache) Get(name, address string) (List, bool) {
	l, ok := c.read(fileName(name))
	return l, ok && l.Provider == name && l.Address == address
}

// All gives every list there is, by provider.
func (c *Cache) All() []List {
	f, err := os.Open(c.dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxFiles) // what could be read does
	slices.Sort(names)
	var out []List
	for _, name := range names {
		if l, ok := c.read(name); ok && fileName(l.Provider) == name {
			out = append(out, l)
		}
	}
	return out
}

// Put keeps a list in place of what was known of its provider.
func (c *Cache) Put(l List) error {
	f := file{Version: version, Provider: l.Provider, Address: l.Address, Asked: l.Asked.UTC()}
	for _, m := range l.Models[:min(len(l.Models), maxModels)] {
		if len(m.Name) <= maxText { // a longer one is no name that anybody types
			f.Models = append(f.Models, newEntry(m))
		}
	}
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("keep the list of %s: %w", l.Provider, err)
	}
	if err := c.write(fileName(l.Provider), data); err != nil {
		return fmt.Errorf("keep the list of %s: %w", l.Provider, err)
	}
	return nil
}

// Drop forgets a provider's list.
func (c *Cache) Drop(name string) error {
	err := atomicfile.Remove(filepath.Join(c.dir, fileName(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the list of %s: %w", name, err)
	}
	return nil
}

// write replaces a file whole. It isn't synced: what a power cut leaves of it
// is recognised and asked for again.
func (c *Cache) write(name string, data []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(c.dir, name), data, atomicfile.Cached)
}

func (c *Cache) read(name string) (List, bool) {
	if !strings.HasPrefix(name, filePrefix) || !strings.HasSuffix(name, fileSuffix) {
		return List{}, false
	}
	in, err := atomicfile.Open(filepath.Join(c.dir, name))
	if err != nil {
		return List{}, false
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil || len(data) > maxFile {
		return List{}, false
	}
	return decode(data)
}

// decode reads a file's bytes.
func decode(data []byte) (List, bool) {
	var f file
	if json.Unmarshal(data, &f) != nil || f.Version != version || f.Provider == "" || f.Asked.IsZero() {
		return List{}, false
	}
	l := List{Provider: f.Provider, Address: f.Address, Asked: f.Asked}
	for _, e := range f.Models[:min(len(f.Models), maxModels)] {
		if e.Name != "" && len(e.Name) <= maxText {
			l.Models = append(l.Models, e.model(f.Provider))
		}
	}
	return l, true
}

func newEntry(m provider.Model) entry {
	return entry{
		Name: m.Name, ContextLength: m.ContextLength, Tools: boolOf(m.Tools), Images: boolOf(m.Images),
		Thinking: boolOf(m.Thinking), Schema: boolOf(m.Schema), Size: m.Size,
		Details: strings.ToValidUTF8(m.Details[:min(len(m.Details), maxText)], ""), Remote: m.Remote,
		Created: max(0, m.Created.Unix()),
	}
}

func (e entry) model(name string) provider.Model {
	return provider.Model{
		Provider: name, Name: e.Name, ContextLength: max(e.ContextLength, 0), Tools: knownOf(e.Tools),
		Images: knownOf(e.Images), Thinking: knownOf(e.Thinking), Schema: knownOf(e.Schema),
		Size: max(e.Size, 0), Details: e.Details[:min(len(e.Details), maxText)], Remote: e.Remote,
		Created: provider.UnixTime(e.Created),
	}
}

func boolOf(k provider.Known) *bool {
	if k == provider.Unknown {
		return nil
	}
	yes := k == provider.Yes
	return &yes
}

func knownOf(b *bool) provider.Known {
	switch {
	case b == nil:
		return provider.Unknown
	case *b:
		return provider.Yes
	}
	return provider.No
}

// fileName is where a provider's list is kept. Names that differ in case alone
// stay apart on systems that don't tell case apart.
func fileName(name string) string {
	var b strings.Builder
	b.WriteString(filePrefix)
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	b.WriteString(fileSuffix)
	return b.String()
}
