package cas

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
)

// mover carries a plan out. First everything new is written into a stage, a folder at the
// root of the workspace, or of what is mounted below it; until then nothing that other programs
// use has changed. After that there are renames only, each of which keeps what was there in
// the stage until all is done, so that everything can be taken back.
type mover struct {
	s      *Store
	t      *tree
	mounts []mountPoint
	stages []stage // the workspace's own first
	known  *index
	ops    []op
	wrote  func(files int, bytes int64)

	made  []cached // by op: what was written, and its stat in the stage
	after []moved  // by op: what coming to its place has changed in that
	undo  []undoStep
	lands *landing // nil in a restore
	// linked has files of the workspace that got further names, as they are with those.
	linked map[*node]cached
	// groups are the names that become one file, by Linked; in a landing the nodes have them.
	groups map[string]*group
	dead   []bool // by op: has no effect, since another program changed the path
	done   []bool // by op: it has taken effect
	start  int64  // when the first effect was about to begin
}

// close releases the stages.
func (m *mover) close() {
	for _, s := range m.stages {
		if s.dir != nil {
			s.dir.close()
		}
	}
}

// heldName is where the stage has what belongs to a path: "n" for what is to
// be there, "o" for what was. It depends on the path alone, so that it is found
// again after a crash.
func heldName(letter, path string) string {
	sum := sha256.Sum256([]byte(path))
	return letter + hex.EncodeToString(sum[:16])
}

// place is where an op writes: a folder in the stage, or the stage, and a name in
// it.
func (m *mover) place(i int, roots map[string]string) (dir, name string) {
	o := &m.ops[i]
	if !o.staged {
		return m.stageOf(o.Path).path, heldName("n", o.Path)
	}
	dir, name = split(o.Path)
	return roots[dir], name
}

// fill writes everything new into the stage.
func (m *mover) fill(ctx context.Context) error {
	roots := make(map[string]string) // folder to be → where it is made
	var files []fileJob
	for i := range m.ops {
		o := &m.ops[i]
		if o.New == nil {
			continue
		}
		if o.PermsOnly() {
			m.made[i], _ = m.was(o)
			m.made[i].mode = o.New.Perm.Bits()
		}
		m.made[i].Entry = *o.New
		// It stays in the index; the name of a tree's entry holds the whole tree.
		m.made[i].Name, m.made[i].Text = strings.Clone(o.New.Name), strings.Clone(o.New.Text)
		if !hasModes {
			m.made[i].Perm = 0
		}
		if o.PermsOnly() || m.skips(i) {
			continue
		}
		dir, name := m.place(i, roots)
		if o.New.Kind == Folder {
			roots[o.Path] = join(dir, name)
		}
		if o.New.Kind != Folder || o.whole() {
			files = append(files, fileJob{i, dir, name})
			continue
		}
		perm := uint32(0o777) // the system's umask decides where nothing is recorded
		if o.New.Perm.Known() {
			perm = 0o700
		}
		if err := m.makeFolder(roots[o.Path], perm); err != nil {
			return err
		}
	}
	files, err := m.linkStanding(files)
	if err != nil {
		return err
	}
	write, links := m.twins(files)
	if err := m.writeAll(ctx, write); err != nil {
		return err
	}
	if err := m.linkTwins(ctx, write, links); err != nil {
		return err
	}
	return m.permFolders(roots)
}

func (m *mover) makeFolder(at string, perm uint32) error {
	up, name := split(at)
	d, err := m.t.dir(up)
	if err != nil {
		return err
	}
	defer d.close()
	return d.mkdir(name, perm)
}

// permFolders gives the new folders their permission bits, once all that is in them
// has been written. One that is going to be moved lets its owner write until then, or
// the system would not move it.
func (m *mover) permFolders(roots map[string]string) error {
	if !hasModes {
		return nil
	}
	for i := len(m.ops) - 1; i >= 0; i-- { // what is in a folder before the folder
		o := &m.ops[i]
		if o.New == nil || o.New.Kind != Folder || o.PermsOnly() || m.skips(i) {
			continue
		}
		want := o.New.Perm
		if want.Known() && !o.staged {
			want |= 0o700
		}
		d, name, err := m.parent(roots[o.Path])
		if err != nil {
			return err
		}
		m.made[i].Perm, err = d.setPerm(name, want)
		d.close()
		if err != nil {
			return fmt.Errorf("write %s: %w", EscapePath(o.Path), err)
		}
		if want.Known() && m.made[i].Perm == want {
			m.made[i].Perm = o.New.Perm // as lastPerms leaves it
		}
	}
	return nil
}

// fileJob is a file or link to be written: its name, and the folder in the stage.
type fileJob struct {
	op        int
	dir, name string
}

// writeAll writes files with several workers, in groups of one View each.
func (m *mover) writeAll(ctx context.Context, files []fileJob) error {
	const atOnce = 16 // few enough that all workers are done at about the same time
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	groups := make(chan []fileJob)
	var workers sync.WaitGroup
	for range min(m.s.workers, len(files)/(4*atOnce)+1) {
		workers.Go(func() {
			for g := range groups {
				if err := m.writeGroup(ctx, g); err != nil {
					cancel(err)
				}
			}
		})
	}
	for len(files) > 0 && ctx.Err() == nil {
		n, bytes := 0, int64(0)
		for n < len(files) && n < atOnce && bytes < groupBytes {
			if size := m.ops[files[n].op].New.Size; size <= smallBlob {
				bytes += size
			}
			n++
		}
		groups <- files[:n]
		files = files[n:]
	}
	close(groups)
	workers.Wait()
	return context.Cause(ctx)
}

func (m *mover) writeGroup(ctx context.Context, g []fileJob) error {
	if ctx.Err() != nil {
		return nil
	}
	contents := make([][]byte, len(g))
	err := m.s.kv.View(ctx, func(tx *kv.Tx) error {
		for i, j := range g {
			e := m.ops[j.op].New
			if !e.content() || e.Size > smallBlob || m.ops[j.op].fromLayer() {
				continue
			}
			err := m.s.smallBlobOf(tx, e.Digest, func(content []byte) error {
				contents[i] = append(make([]byte, 0, len(content)), content...)
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", EscapePath(m.ops[j.op].Path), err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var d *dir
	at := ""
	defer func() {
		if d != nil {
			d.close()
		}
	}()
	for i, j := range g {
		if d == nil || j.dir != at {
			if d != nil {
				d.close()
			}
			if d, err = m.t.dir(j.dir); err != nil {
				return err
			}
			at = j.dir
		}
		if err := m.write(ctx, d, j.name, j.op, contents[i]); err != nil {
			return fmt.Errorf("write %s: %w", EscapePath(m.ops[j.op].Path), err)
		}
	}
	return nil
}

// write makes one file or link in the stage.
func (m *mover) write(ctx context.Context, d *dir, name string, i int, content []byte) error {
	o := &m.ops[i]
	if o.fromLayer() {
		return m.copyBelow(ctx, d, name, o.n)
	}
	if o.New.Kind == Link {
		return d.symlink(o.New.Text, name)
	}
	mode := uint32(0o666)
	switch {
	case o.New.Perm.Known():
		mode = 0o600 // until its own are set, other users can not open it
	case o.New.Kind == Executable:
		mode = 0o777
	}
	f, err := d.create(name, mode)
	if err != nil {
		return err
	}
	if err = m.s.check("write", name); err == nil {
		if o.New.Size > smallBlob {
			err = m.copyLarge(ctx, f, o.New)
		} else if len(content) > 0 {
			_, err = f.Write(content)
		}
	}
	var st stat
	if err == nil {
		st, err = fstat(f)
	}
	if mode := m.modeOf(&st, o); err == nil && mode != st.mode {
		st, err = setFilePerm(f, mode)
	}
	if err == nil && o.n != nil {
		st, err = o.n.dress(d, name, f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	m.made[i].remember(&st)
	if !hasModes {
		m.made[i].Kind = o.New.Kind
	}
	m.wrote(1, st.size)
	return nil
}

// modeOf returns the permission bits of a file: the recorded ones. Where the state has
// none, a file that replaces another one gets the bits of that one, so that a private
// file stays private, and the executable bit is the state's; a new file keeps those
// that it was made with.
func (m *mover) modeOf(st *stat, o *op) uint32 {
	if !hasModes {
		return st.mode
	}
	if o.New.Perm.Known() {
		mode := o.New.Perm.Bits()
		if mode&idBits != 0 {
			mode &^= foreignIDs(st)
		}
		return mode
	}
	if o.Old == nil || !o.Old.content() {
		return st.mode
	}
	was, ok := m.was(o)
	if !ok || !was.content() {
		return st.mode
	}
	mode := was.mode & 0o666
	if o.New.Kind == Executable {
		mode |= 0o100 | (mode&0o044)>>2
	}
	return mode
}

// copyLarge fills a file from the store, sharing blocks where the file system
// can. Never is it a hard link: whoever writes to the file would write into the
// store.
func (m *mover) copyLarge(ctx context.Context, f *os.File, e *Entry) error {
	blob, err := atomicfile.Open(m.s.blobPath(e.Digest))
	if errors.Is(err, fs.ErrNotExist) {
		return &DamageError{Digest: e.Digest, What: "blob", Reason: "it is missing"}
	}
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }()
	c := copier{ctx: ctx, sum: sha256.New()}
	var n int64
	if m.s.check("clone", "") == nil && clone(f, blob) == nil {
		n, err = c.copy(nil, f)
	} else {
		n, err = c.copy(f, blob)
	}
	if err != nil {
		return err
	}
	return c.matches(e.Digest, n, e.Size)
}

// removeStage removes a stage with all that is in it.
func removeStage(t *tree, path string) error {
	up, name := split(path)
	d, err := t.dir(up)
	if gone(err) || errors.Is(err, errLink) {
		return nil // the mount, or its folder, does not exist any more
	}
	if err != nil {
		return err
	}
	defer d.close()
	return removeAll(t, d, up, name, 0)
}

// removeAll removes what is under a name, following no link.
func removeAll(t *tree, d *dir, path, name string, depth int) error {
	err := d.remove(name)
	if err == nil || gone(err) {
		return nil
	}
	st, serr := d.lstat(name)
	if gone(serr) {
		return nil // a read-only file system says something else first
	}
	if serr != nil || st.form != folderForm || depth > maxDepth {
		return err
	}
	if st.mode&0o700 != 0o700 {
		if err := d.chmodFile(name, 0o700); err != nil {
			return err
		}
	}
	sub, err := t.dir(join(path, name))
	if err != nil {
		return err
	}
	names, err := sub.names(make([]byte, dirBuffer))
	for _, child := range names {
		if err == nil {
			err = removeAll(t, sub, join(path, name), child, depth+1)
		}
	}
	sub.close()
	if err != nil {
		return err
	}
	return d.rmdir(name)
}
