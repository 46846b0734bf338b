package python

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

//go:embed runner/compile.py
var compileSource string

const (
	// bytecodeWorth is how much source a toolset has whose files are compiled
	// once for all calls: some five hundred lines. Compiling less takes a call
	// about a millisecond.
	bytecodeWorth = 16 << 10
	// maxSources and maxSourceBytes bound what is looked at and compiled.
	maxSources, maxSourceBytes = 400, 8 << 20
	// maxBytecode bounds one compiled file: several times the largest source.
	maxBytecode = 32 << 20
	// compileTime is for the largest toolset there may be, on a busy machine.
	compileTime = 30 * time.Second
	// compileWait is how long a call that is over waits for it: a person waits,
	// and most toolsets take a tenth of a second.
	compileWait = 2 * time.Second
	// compileMemory is what compiling may take. A text can be written so that
	// its code is far larger than itself.
	compileMemory = 512 << 20
	// bytecodeTrust is how long it is believed which files a toolset has. Where
	// that is wrong a call compiles for itself.
	bytecodeTrust = time.Minute
	// bytecodeName is written into a folder of compiled files last.
	bytecodeName = "fettle-bytecode.json"
	// bytecodePrefix begins the names of those folders.
	bytecodePrefix = "bytecode-"
)

// bytecode is the folder of what was compiled of one toolset's files for one
// interpreter. Its name is made of both contents.
type bytecode struct {
	dir   string // "" where the toolset is too small for one
	root  string
	files []string // by their paths below the root
	since time.Time
	ready bool
	tried bool // to fill it, in this process
}

// bytecodeMark tells what is in a folder of compiled files.
type bytecodeMark struct {
	Root  string            `json:"root"`
	Files map[string]string `json:"files"` // SHA-256 of each compiled file
	Made  string            `json:"made"`
}

// bytecode finds the folder for a toolset, and makes it where it isn't there;
// it may be empty still. A toolset without one runs as well.
func (r *Runtime) bytecode(in Interpreter, root string) *bytecode {
	r.mu.Lock()
	known := r.code[root]
	r.mu.Unlock()
	if known != nil && time.Since(known.since) < bytecodeTrust && known.there() {
		return known
	}
	b := &bytecode{root: root, since: time.Now()}
	if key, files, worth := sourceKey(in, root); worth {
		if cache, err := r.cache(); err == nil {
			dir := filepath.Join(cache, bytecodePrefix+key)
			if os.MkdirAll(dir, 0o755) == nil {
				b.dir, b.files = dir, files
				b.ready = checkBytecode(dir)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known != nil && known.dir == b.dir {
		b.tried = known.tried
	}
	r.code[root] = b
	return b
}

// there tells whether the folder is: another program may have removed it.
func (b *bytecode) there() bool {
	if b.dir == "" {
		return true
	}
	_, err := os.Stat(b.dir)
	return err == nil
}

// sourceKey names the contents of a toolset's Python files. worth is false
// where there are so few that compiling them each time costs nothing, or more
// than anybody wrote.
func sourceKey(in Interpreter, root string) (key string, files []string, worth bool) {
	sum := sha256.New()
	fmt.Fprintf(sum, "fettle bytecode 1\x00%s\x00%s\x00%s\x00", in.Path, in.Version, compileSource)
	dir, err := os.OpenRoot(root)
	if err != nil {
		return "", nil, false
	}
	defer dir.Close()
	total := int64(0)
	err = fs.WalkDir(dir.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || p == "assets" || d.Name() == "__pycache__"):
			return fs.SkipDir // none of its modules are there
		case !d.Type().IsRegular() || path.Ext(p) != ".py" || strings.ContainsFunc(p, func(c rune) bool { return c < ' ' }):
			return nil
		}
		text, err := fs.ReadFile(dir.FS(), p)
		if err != nil {
			return err
		}
		files = append(files, p)
		if total += int64(len(text)); total > maxSourceBytes || len(files) > maxSources {
			return errors.New("too much")
		}
		one := sha256.Sum256(text)
		fmt.Fprintf(sum, "%x %s\x00", one, p)
		return nil
	})
	if err != nil || total < bytecodeWorth {
		return "", nil, false
	}
	return hex.EncodeToString(sum.Sum(nil)[:10]), files, true
}

// checkBytecode tells whether a folder is complete and holds what was put
// there. What is damaged is taken out, so that it is made again.
func checkBytecode(dir string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	mark, err := readMark(root)
	if err != nil {
		return false // nothing yet, or no more than what is replaced
	}
	for name, want := range mark.Files {
		data, err := readRegular(root, name)
		if err != nil || digest(data) != want {
			for p := range mark.Files {
				_ = root.Remove(p) // whoever imports it compiles it then
			}
			_ = root.Remove(bytecodeName)
			return false
		}
	}
	return true
}

func readMark(root *os.Root) (mark bytecodeMark, err error) {
	data, err := readRegular(root, bytecodeName)
	if err == nil {
		err = json.Unmarshal(data, &mark)
	}
	return mark, err
}

// readRegular reads a file of a bounded size that is no link.
func readRegular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBytecode {
		return nil, fmt.Errorf("%s is no compiled file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytecode))
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// compile fills a toolset's folder, unless that was done or tried before. It
// may run beside the toolset's calls, which see each file as a whole or not at
// all.
func (r *Runtime) compile(ctx context.Context, p *plan) {
	b := p.code
	r.mu.Lock()
	skip := b.dir == "" || b.ready || b.tried
	b.tried = true
	r.mu.Unlock()
	if skip {
		return
	}
	release, ok, err := lockfile.Try(b.dir + ".lock")
	if err != nil || !ok {
		return // another process is at it
	}
	defer release()
	ready := checkBytecode(b.dir) || r.fill(ctx, p.in, b, p.policy.Least) == nil
	r.mu.Lock()
	defer r.mu.Unlock()
	// Where it fails a call compiles for itself, and nobody has lost anything.
	b.ready, b.tried = ready, ctx.Err() == nil
}

// compileBeside fills a toolset's folder while its call runs, in a program that
// has no other time for it. wait is for the call's end.
func (r *Runtime) compileBeside(ctx context.Context, p *plan) (wait func()) {
	ctx, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { r.compile(ctx, p) })
	return func() {
		timer := time.AfterFunc(compileWait, stop)
		beside.Wait() // ctx ends it
		timer.Stop()
		stop()
	}
}

// fill compiles into a folder of its own, and takes over what came of it.
func (r *Runtime) fill(ctx context.Context, in Interpreter, b *bytecode, least toolset.Level) error {
	cache := filepath.Dir(b.dir)
	into, remove, err := r.o.Temporaries.TempDir(cache, ".bytecode-")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }() // a sweep tries again
	job, err := json.Marshal(map[string]any{"root": b.root, "into": into, "files": b.files})
	if err != nil {
		return err
	}
	ran, err := r.o.Launcher.Run(ctx, toolset.Policy{
		Readable: append(in.grants(), b.root), Writable: []string{into}, Lent: append(in.grants(), b.root, into), Least: least,
		Limits: toolset.Limits{Time: compileTime, FileSize: maxBytecode, Memory: compileMemory},
	}, toolset.Command{
		Args: []string{in.Path, "-I", "-S", "-B", "-X", "utf8", "-c", compileSource}, Dir: into, Stdin: bytes.NewReader(job),
	})
	switch {
	case err != nil:
		return err
	case ran.Exit.Cause != toolset.Exited || ran.Exit.Code != 0:
		return errors.New(ran.Exit.String())
	}
	if err := b.take(into); err != nil {
		return err
	}
	dropOlder(cache, b)
	return nil
}

// take copies what was compiled, so that no name of it was ever in a process's
// reach, and notes its hashes.
func (b *bytecode) take(into string) error {
	from, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer from.Close()
	mark := bytecodeMark{Root: b.root, Files: map[string]string{}, Made: time.Now().UTC().Format(time.RFC3339)}
	for _, name := range b.files {
		name += "c"
		data, err := readRegular(from, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it can't be compiled
		}
		if err != nil {
			return err
		}
		to := filepath.Join(b.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := atomicfile.Write(to, data, atomicfile.Cached); err != nil {
			return err
		}
		mark.Files[name] = digest(data)
	}
	data, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(b.dir, bytecodeName), data, atomicfile.Cached)
}

// dropOlder removes what was compiled of the same folder when its files were
// others. A process that has one of those still compiles for itself.
func dropOlder(cache string, b *bytecode) {
	dirs, _ := filepath.Glob(filepath.Join(cache, bytecodePrefix+"*"))
	for _, dir := range dirs {
		if dir == b.dir || strings.HasSuffix(dir, ".lock") {
			continue
		}
		if root, err := os.OpenRoot(dir); err == nil {
			mark, err := readMark(root)
			root.Close()
			if err == nil && mark.Root == b.root {
				os.RemoveAll(dir)
			}
		}
	}
}
