package cas

import "slices"

// editor changes an index entry by entry, without touching the records that it
// shares.
type editor struct {
	found map[string]*folderScan
	open  map[string]*openRec
}

// openRec is a folder's record that is being changed.
type openRec struct {
	rec   *dirRec
	at    map[string]int // made when many entries are looked for
	looks int
	lost  bool
	made  bool // it is new, so that no name that is set can be there already
}

// find gives the place of a name.
func (o *openRec) find(name string) (int, bool) {
	const few = 8 // edits of a folder for which a table isn't worth its making
	if o.looks++; o.looks <= few {
		for i := range o.rec.ents {
			if e := &o.rec.ents[i]; e.Name == name && e.Kind != 0 {
				return i, true
			}
		}
		return 0, false
	}
	if o.at == nil {
		o.at = make(map[string]int, len(o.rec.ents))
		for i := range o.rec.ents {
			if o.rec.ents[i].Kind != 0 {
				o.at[o.rec.ents[i].Name] = i
			}
		}
	}
	i, ok := o.at[name]
	return i, ok
}

func newEditor(ix *index) *editor {
	e := &editor{found: make(map[string]*folderScan, len(ix.dirs)), open: make(map[string]*openRec)}
	for path, r := range ix.dirs {
		e.found[path] = &folderScan{rec: r}
	}
	return e
}

// edit gives the record of a folder for changing; a folder that isn't there is
// made.
func (e *editor) edit(path string) *openRec {
	if o := e.open[path]; o != nil {
		return o
	}
	o := &openRec{rec: new(dirRec), made: true}
	if f := e.found[path]; f != nil {
		o.made = false
		o.rec.ents = slices.Clone(f.rec.ents)
		o.rec.listed.ino = f.rec.listed.ino // that of the folder; its names are read again
	}
	e.found[path] = &folderScan{rec: o.rec}
	e.open[path] = o
	return o
}

// remove takes a path out.
func (e *editor) remove(path string) {
	dir, name := split(path)
	delete(e.found, path)
	delete(e.open, path)
	if e.found[dir] == nil {
		return // it went with its folder
	}
	o := e.edit(dir)
	if i, ok := o.find(name); ok {
		o.rec.ents[i].Kind = 0
		o.lost = true
		delete(o.at, name)
	}
}

// set puts an entry under a path, once.
func (e *editor) set(path string, c cached) {
	dir, name := split(path)
	o := e.edit(dir)
	i, ok := 0, false
	if !o.made {
		i, ok = o.find(name)
	}
	if ok {
		o.rec.ents[i] = c
	} else {
		if o.at != nil {
			o.at[name] = len(o.rec.ents)
		}
		o.rec.ents = append(o.rec.ents, c)
	}
	if c.Kind == Folder {
		e.edit(path)
		return
	}
	delete(e.found, path)
	delete(e.open, path)
}

// drop takes a path out, with every folder below it that an index has.
func (e *editor) drop(ix *index, path string) {
	if rec := ix.dirs[path]; rec != nil {
		for i := range rec.ents {
			if rec.ents[i].Kind == Folder {
				e.drop(ix, join(path, rec.ents[i].Name))
			}
		}
	}
	e.remove(path)
}

// finish gives the folders in the form that a builder takes.
func (e *editor) finish() map[string]*folderScan {
	for _, o := range e.open {
		if o.lost {
			o.rec.dropEmpty()
		}
	}
	return e.found
}
