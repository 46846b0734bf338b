package cas

import "slices"

// editor changes an index entry by entry, without touching the records that it
// shares. It holds only what is edited.
type editor struct {
	ix    *index
	found map[string]*folderScan // the edited folders; nil for one that is removed
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
	return &editor{ix: ix, found: make(map[string]*folderScan), open: make(map[string]*openRec)}
}

// folder returns the record of a folder as it is now, or nil.
func (e *editor) folder(path string) *dirRec {
	f, ok := e.found[path]
	switch {
	case !ok:
		return e.ix.dirs.get(path)
	case f == nil:
		return nil
	}
	return f.rec
}

// edit returns the record of a folder for changing; a folder that does not exist is
// made.
func (e *editor) edit(path string) *openRec {
	if o := e.open[path]; o != nil {
		return o
	}
	o := &openRec{rec: new(dirRec), made: true}
	if was := e.folder(path); was != nil {
		o.made = false
		o.rec.ents = slices.Clone(was.ents)
		o.rec.listed.ino = was.listed.ino // that of the folder; its names are read again
	}
	e.found[path] = &folderScan{rec: o.rec}
	e.open[path] = o
	return o
}

// remove takes a path out.
func (e *editor) remove(path string) {
	dir, name := split(path)
	e.removeFolder(path)
	if e.folder(dir) == nil {
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
	e.removeFolder(path)
}

// removeFolder removes the record of a folder, if there is one.
func (e *editor) removeFolder(path string) {
	delete(e.open, path)
	if e.ix.dirs.get(path) != nil {
		e.found[path] = nil
	} else {
		delete(e.found, path)
	}
}

// drop takes a path out, with every folder below it that the index has.
func (e *editor) drop(path string) {
	if rec := e.ix.dirs.get(path); rec != nil {
		for i := range rec.ents {
			if rec.ents[i].Kind == Folder {
				e.drop(join(path, rec.ents[i].Name))
			}
		}
	}
	e.remove(path)
}

// finish returns the edited folders in the form that a builder takes.
func (e *editor) finish() map[string]*folderScan {
	for _, o := range e.open {
		if o.lost {
			o.rec.dropEmpty()
		}
	}
	return e.found
}
