package gitguard

import (
	"encoding/json"
	"fmt"
	"io/fs"
)

// encoded is the JSON of a Found. Paths are bytes, since not every name is UTF-8.
type encoded struct {
	Repos []encodedRepo `json:"repos"`
	Shut  []encodedFile `json:"shut,omitempty"`
}

type encodedFile struct {
	Path []byte `json:"path"`
	Dev  uint64 `json:"dev,omitempty"`
	Ino  uint64 `json:"ino,omitempty"`
}

type encodedRepo struct {
	File  encodedFile   `json:"file"`
	Above encodedFile   `json:"above"`
	Dir   bool          `json:"dir,omitempty"`
	Bare  bool          `json:"bare,omitempty"`
	Empty bool          `json:"empty,omitempty"`
	Runs  []encodedPart `json:"runs,omitempty"`
}

type encodedPart struct {
	Name []byte      `json:"name"`
	Sum  []byte      `json:"sum"`
	Mode fs.FileMode `json:"mode"`
	// Body is nil where it can't be written again.
	Body *[]byte `json:"body,omitempty"`
}

// MarshalJSON returns f in a form that [Found.UnmarshalJSON] reads in another process on
// the same machine. It contains the configuration of the repositories.
func (f *Found) MarshalJSON() ([]byte, error) {
	var out encoded
	for _, r := range f.repos {
		e := encodedRepo{File: r.file.encode(), Above: r.above.encode(), Dir: r.dir, Bare: r.bare, Empty: r.empty}
		for name, p := range r.runs {
			part := encodedPart{Name: []byte(name), Sum: p.sum[:], Mode: p.mode}
			if p.body != nil {
				part.Body = &p.body
			}
			e.Runs = append(e.Runs, part)
		}
		out.Repos = append(out.Repos, e)
	}
	for _, s := range f.shut {
		out.Shut = append(out.Shut, s.encode())
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON returned.
func (f *Found) UnmarshalJSON(data []byte) error {
	var in encoded
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read the repositories of a folder: %w", err)
	}
	*f = Found{}
	for _, e := range in.Repos {
		r := repo{path: string(e.File.Path), file: e.File.decode(), above: e.Above.decode(), dir: e.Dir, bare: e.Bare, empty: e.Empty, runs: map[string]part{}}
		for _, p := range e.Runs {
			part := part{mode: p.Mode}
			copy(part.sum[:], p.Sum)
			if p.Body != nil {
				part.body = append([]byte{}, *p.Body...)
			}
			r.runs[string(p.Name)] = part
		}
		f.repos = append(f.repos, r)
	}
	for _, s := range in.Shut {
		f.shut = append(f.shut, s.decode())
	}
	return nil
}

func (f file) encode() encodedFile { return encodedFile{[]byte(f.path), f.id.dev, f.id.ino} }

func (e encodedFile) decode() file {
	return file{id: fileID{e.Dev, e.Ino}, path: string(e.Path)}
}
