package author

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/bundle"
)

// Commands are the commands of who makes toolsets.
func Commands(rt *workbench.Runtime) []*cli.Command {
	return []*cli.Command{newToolsetInit(rt), newToolsetValidate(rt), newToolsetTest(rt), newToolsetPack(rt), newToolsetSchema(rt)}
}

// ciFormats are the formats that validate and test can print.
func ciFormats(list ...string) cli.Flag {
	last := len(list) - 1
	return &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Value: "text",
		Usage: "print `FORMAT` " + strings.Join(list[:last], ", ") + " or " + list[last],
	}
}

func checkFormat(output, path string, list ...string) error {
	if slices.Contains(list, output) {
		return nil
	}
	last := len(list) - 1
	return cmdline.Usagef(path+" --help", "--output has no format %s: there are %s and %s", strconv.Quote(output), strings.Join(list[:last], ", "), list[last])
}

// author is what the commands around bundles share.
type author struct {
	rt   *workbench.Runtime
	root string // the folder that paths in reports are relative to; "" until asked
}

func builtinIDs() []string {
	var ids []string
	for _, e := range builtin.Entries(builtin.Options{}) {
		ids = append(ids, e.Tool.ID)
	}
	return ids
}

// stdinRef is how standard input is named as a bundle.
const stdinRef = "-"

// open opens a bundle by its path, or the one on standard input. What package
// bundle refuses is passed through, since that is a finding; a path that can't
// be meant is a usage error.
func (a *author) open(ctx context.Context, ref string) (*bundle.Bundle, error) {
	bar := a.rt.Streams.Progress(ref)
	defer bar.Clear()
	o := bundle.Options{Progress: bar.Bytes, Temporaries: a.rt.Temporaries()}
	if ref == stdinRef {
		return a.openStdin(ctx, o)
	}
	if err := mustBeThere(ref); err != nil {
		return nil, err
	}
	b, err := bundle.Open(ctx, ref, o)
	if err == nil || bundle.CodeOf(err) != "" || ctx.Err() != nil {
		return b, err
	}
	return nil, fault.Wrap(fault.Usage, "read "+ref, pathless(err))
}

// mustBeThere wants a path of something that is there; an address is none.
func mustBeThere(ref string) error {
	if strings.Contains(ref, "://") {
		return cmdline.Usagef("", "%s is an address; this command reads folders and files", term.Clean(ref))
	}
	_, err := os.Stat(ref)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cmdline.Usagef("", "there is no file or folder %s", term.Clean(ref))
	case err != nil:
		return fault.Wrap(fault.Usage, "read "+ref, pathless(err))
	}
	return nil
}

// pathless takes the path off an error that names it once more.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// maxStdin bounds what is read of standard input: the largest bundle there is.
const maxStdin = 256 << 20

// openStdin keeps standard input in a file, since a ZIP is read from its end.
func (a *author) openStdin(ctx context.Context, o bundle.Options) (*bundle.Bundle, error) {
	if a.rt.Streams.In.IsTerminal() {
		return nil, cmdline.Usagef("fettle toolset validate - < my-tools.zip", "standard input is a terminal, and no bundle")
	}
	f, remove, err := a.rt.Temporaries().TempFile("", "fettle-stdin-", "")
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "keep standard input", err)
	}
	n, err := io.Copy(f, io.LimitReader(a.rt.Streams.In, maxStdin+1))
	if err == nil && n > maxStdin {
		err = &bundle.Error{Code: bundle.Size, Msg: fmt.Sprintf("standard input has more than %d MiB", maxStdin>>20)}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	// The name is opened once more: Open also takes a tar.gz.
	b, err := bundle.Open(ctx, f.Name(), o)
	if err = errors.Join(err, remove()); err != nil {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
		return nil, err
	}
	return b, nil
}

// bundlePlace is where a bundle lies.
type bundlePlace struct {
	ref    string
	folder bool // its files are files of the disk
}

// placeOf looks at a reference as bundle.Open does.
func placeOf(ref string) bundlePlace {
	if info, err := os.Stat(ref); ref != stdinRef && err == nil {
		switch base := filepath.Base(ref); {
		case info.IsDir():
			return bundlePlace{ref, true}
		case isManifestFile(base):
			return bundlePlace{filepath.Dir(ref), true}
		}
	}
	return bundlePlace{ref: ref}
}

// shown is a file of the bundle for people: the path that leads to it from
// here, or the archive's and the path in it.
func (p bundlePlace) shown(file string) string {
	switch {
	case p.ref == stdinRef && file == "":
		return "standard input"
	case p.ref == stdinRef:
		return file
	case p.folder:
		return filepath.Join(p.ref, filepath.FromSlash(file))
	case file == "":
		return p.ref
	}
	return p.ref + "/" + file
}

// onDisk is the file that an annotation can point to: one of the folder, or the
// archive as a whole. inside tells that it is the former.
func (p bundlePlace) onDisk(file string) (path string, inside bool) {
	switch {
	case p.ref == stdinRef:
		return "", false
	case p.folder && file != "":
		return filepath.Join(p.ref, filepath.FromSlash(file)), true
	case p.folder: // what the whole lacks is shown at its manifest
		return filepath.Join(p.ref, bundle.Toolset.ManifestFile()), false
	}
	return p.ref, false
}

// inRepository is a path as CI names it: relative to the repository's root, with
// slashes; the absolute path of a file elsewhere.
func (a *author) inRepository(path string) string {
	if path == "" {
		return ""
	}
	abs, err := realAbs(path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	if a.root == "" {
		a.root = a.findRoot(filepath.Dir(abs))
	}
	if rel, err := filepath.Rel(a.root, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

// realAbs resolves links of the folder that a path is in; the file itself need
// not be there.
func realAbs(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return abs, nil
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// findRoot is the checkout that GitHub tells of, else the folder above that is a
// repository, else the current one.
func (a *author) findRoot(dir string) string {
	if ws := a.rt.Streams.Getenv("GITHUB_WORKSPACE"); ws != "" {
		if ws, err := filepath.EvalSymlinks(ws); err == nil {
			if rel, err := filepath.Rel(ws, dir); err == nil && (rel == "." || filepath.IsLocal(rel)) {
				return ws
			}
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	wd, err := realAbs(".")
	if err != nil {
		return dir
	}
	return wd
}

// onlyOnce wants each bundle to be named once, and standard input too.
func onlyOnce(refs []string) error {
	seen := map[string]bool{}
	for _, ref := range refs {
		key := ref
		if ref != stdinRef {
			key = filepath.Clean(ref)
		}
		if seen[key] {
			return cmdline.Usagef("", "%s is named twice", term.Clean(ref))
		}
		seen[key] = true
	}
	return nil
}
