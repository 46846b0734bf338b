package cas

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLayerNames bounds the names of one layer: a call may write as many as the disk has
// inodes, and each takes some 400 bytes of memory.
const maxLayerNames = 2_000_000

// layerReader reads the upper folder of a layer. It trusts nothing in it: the programs of
// a call, which have ended, may have left any names, kinds, modes and attributes.
type layerReader struct {
	t      *tree
	layer  string
	modes  map[string]uint32
	note   *os.File // the file modes, once one has to be noted
	names  int
	buf    []byte           // for reading names
	byNode map[uint64]*node // inode of a file with several names → the first of them
	left   []Left           // what does not land
}

// readUpper returns the nodes of a layer, without digests.
func readUpper(layer string, fault func(call, name string) error) (*tree, *node, []Left, error) {
	root, err := os.OpenRoot(filepath.Join(layer, layerUpper))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read layer %s: %w", layer, err)
	}
	t, err := openTree(root, fault)
	_ = root.Close() // the tree has its own handle
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read layer %s: %w", layer, err)
	}
	r := &layerReader{t: t, layer: layer, buf: make([]byte, dirBuffer), byNode: make(map[uint64]*node)}
	top := &node{cached: cached{Entry: Entry{Kind: Folder}}, origin: true}
	if err = r.readModes(); err == nil {
		err = r.folder(top, 0)
	}
	if r.note != nil {
		err = errors.Join(err, r.note.Close())
	}
	if err != nil {
		t.close()
		return nil, nil, nil, fmt.Errorf("read layer %s: %w", layer, err)
	}
	return t, top, r.left, nil
}

// folder reads what is in a folder of the layer.
func (r *layerReader) folder(n *node, depth int) error {
	d, err := r.t.dir(n.path)
	if err != nil {
		return err
	}
	defer d.close()
	attrs, err := d.attrs()
	if err != nil {
		return err
	}
	if n.path != "" && n.takeAttrs(attrs) {
		return &LayerError{Layer: r.layer, Path: n.path, Reason: "it has an attribute that only the kernel sets"}
	}
	names, err := d.names(r.buf)
	if err != nil {
		return err
	}
	if r.names += len(names); r.names > maxLayerNames {
		return &LayerError{Layer: r.layer, Reason: fmt.Sprintf("it has more than %d names", maxLayerNames)}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.entry(n, d, name, depth); err != nil {
			return err
		}
	}
	return nil
}

// entry reads one name of a folder.
func (r *layerReader) entry(up *node, d *dir, name string, depth int) error {
	st, err := d.lstat(name)
	if err != nil {
		return err
	}
	n := &node{path: join(up.path, name), gone: st.whiteout}
	n.Name = name
	if why := r.refuse(n, &st, depth); why != "" {
		r.left = append(r.left, Left{Path: n.path, Kind: Special, Reason: why})
		return nil
	}
	if st.mode, err = r.open(d, n, &st); err != nil {
		return err
	}
	n.mode, n.mtime, n.ctime, n.ino = st.mode, st.mtime, st.ctime, st.ino
	up.kids = append(up.kids, n)
	switch {
	case n.gone:
	case st.form == folderForm:
		n.Kind, n.Perm = Folder, permOf(&st)
		return r.folder(n, depth+1)
	case st.form == linkForm:
		n.Kind = Link
		n.Text, err = d.readlink(name)
	default:
		n.remember(&st)
		err = r.file(d, n, &st)
	}
	return err
}

// refuse returns the reason why an entry does not land, or "".
func (r *layerReader) refuse(n *node, st *stat, depth int) string {
	switch {
	case depth >= maxDepth || len(n.path) > maxPath:
		return reasonTooDeep
	case strings.HasPrefix(n.path, stagePrefix):
		return "names that begin with " + stagePrefix + " are reserved"
	case n.gone:
		return ""
	}
	switch st.form {
	case regular, folderForm, linkForm:
		return ""
	}
	return "a " + st.form.String() + " is not brought into the workspace"
}

// file reads the attributes of a regular file, and finds its other names.
func (r *layerReader) file(d *dir, n *node, st *stat) error {
	h, err := d.handle(n.Name)
	if err != nil {
		return err
	}
	defer h.close()
	attrs, err := h.attrs()
	if err != nil {
		return err
	}
	if n.takeAttrs(attrs) {
		return &LayerError{Layer: r.layer, Path: n.path, Reason: "it has an attribute that only the kernel sets"}
	}
	if st.nlink > 1 {
		if r.byNode[st.ino] == nil {
			r.byNode[st.ino] = n
		}
		n.twin = r.byNode[st.ino]
	}
	return nil
}

// open makes a file or folder readable for its owner. It returns the permission bits that
// the call gave it, which stay in the file modes for a second reading.
func (r *layerReader) open(d *dir, n *node, st *stat) (uint32, error) {
	if mode, ok := r.modes[n.path]; ok {
		return mode, nil
	}
	need := uint32(0o400)
	if st.form == folderForm {
		need = 0o700
	}
	if !hasModes || n.gone || st.form == linkForm || st.mode&need == need {
		return st.mode, nil
	}
	if r.note == nil {
		var err error
		if r.note, err = os.OpenFile(filepath.Join(r.layer, layerModes), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return 0, err
		}
	}
	line, err := json.Marshal(notedMode{[]byte(n.path), st.mode})
	if err == nil {
		_, err = r.note.Write(append(line, '\n'))
	}
	if err == nil {
		err = d.chmodFile(n.Name, st.mode|need)
	}
	return st.mode, err
}

// notedMode is a line of the file modes.
type notedMode struct {
	Path []byte `json:"path"` // names are bytes, and JSON has none
	Mode uint32 `json:"mode"`
}

// readModes reads the file modes, if an earlier reading has written one. A last line that
// is cut off belongs to a file that was not touched.
func (r *layerReader) readModes() error {
	f, err := os.Open(filepath.Join(r.layer, layerModes))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r.modes = make(map[string]uint32)
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var m notedMode
		if json.Unmarshal(line, &m) == nil {
			r.modes[string(m.Path)] = m.Mode
		}
	}
}
