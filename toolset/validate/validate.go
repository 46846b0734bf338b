package validate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Options is how a bundle is judged. The zero value is fine.
type Options struct {
	// Builtins are the ids of the builtin tools, for agents that name them.
	Builtins []string
	// Open is how the bundle is opened.
	Open bundle.Options
}

// Open opens what ref names and judges it. An error means that it can't be
// read; a bundle that is refused is a report.
func Open(ctx context.Context, ref string, o Options) (*Report, error) {
	b, err := bundle.Open(ctx, ref, o.Open)
	return opened(ctx, b, err, o)
}

// opened judges what opening gave, and closes it.
func opened(ctx context.Context, b *bundle.Bundle, err error, o Options) (*Report, error) {
	if err != nil {
		if r := Refused(err); r != nil {
			return r, nil
		}
		return nil, err
	}
	r, err := Bundle(ctx, b, o)
	return r, errors.Join(err, b.Close())
}

// Refused is the report on what bundle.Open has refused; nil for another error.
func Refused(err error) *Report {
	var refused *bundle.Error
	if !errors.As(err, &refused) {
		return nil
	}
	r := &Report{Findings: []Finding{}}
	msg := refused.Msg
	if refused.Err != nil {
		msg += ": " + refused.Err.Error()
	}
	r.add(Finding{File: bundle.Printable(refused.Path), Level: Error, Code: bundlePrefix + string(refused.Code), Message: msg})
	return r
}

// Bundle judges an open bundle, which stays open.
func Bundle(ctx context.Context, b *bundle.Bundle, o Options) (*Report, error) {
	v := &validator{b: b, r: &Report{Kind: string(b.Kind), Hash: b.Hash, Files: len(b.Files), Findings: []Finding{}}}
	for _, f := range b.Files {
		v.r.Bytes += f.Size
	}
	v.bundleNotes()
	raw, err := b.Manifest()
	if err != nil {
		return v.r, v.refused(err)
	}
	if b.Kind != bundle.Toolset {
		v.converted(raw)
		v.r.sort()
		return v.r, ctx.Err()
	}
	v.doc = manifest.Parse(manifest.FileName, raw, manifest.Options{Builtins: o.Builtins})
	v.problems(v.doc.Problems)
	if m := v.doc.Manifest; m != nil {
		v.m = m
		v.r.Manifest, v.r.ID, v.r.Name, v.r.Version = m, m.ID, m.Name, m.Version
	}
	for _, step := range []func() error{v.python, v.pages, v.texts, v.unused, v.readme} {
		if err := errors.Join(step(), ctx.Err()); err != nil {
			return v.r, v.refused(err)
		}
	}
	v.r.sort()
	return v.r, nil
}

// validator judges one bundle.
type validator struct {
	b   *bundle.Bundle
	r   *Report
	doc *manifest.Document
	m   *manifest.Manifest // nil where the manifest can't be used

	modules map[string]*module // by path
	parsed  int64              // bytes of Python that were read
	words   mentions           // what the bundle's texts mention
	marked  int                // places that were looked at closely for keys
}

// refused turns what came of a file that has changed meanwhile into a finding.
func (v *validator) refused(err error) error {
	if r := Refused(err); r != nil {
		v.r.add(r.Findings[0])
		v.r.sort()
		return nil
	}
	return err
}

// spot is a place in a file of the bundle.
type spot struct {
	file         string
	line, column int
}

func (v *validator) add(at spot, level Level, code, format string, args ...any) {
	v.r.add(Finding{File: at.file, Line: at.line, Column: at.column, Level: level, Code: code, Message: fmt.Sprintf(format, args...)})
}

// at adds a finding at a value of the manifest.
func (v *validator) at(pointer string, level Level, code, format string, args ...any) {
	line, column := v.doc.At(pointer)
	v.r.add(Finding{
		File: manifest.FileName, Line: line, Column: column, Pointer: pointer, Level: level, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

func (v *validator) problems(problems []manifest.Problem) {
	for _, p := range problems {
		v.r.add(Finding{
			File: p.File, Line: p.Line, Column: p.Column, Pointer: p.Pointer, Level: Level(p.Level), Code: p.Code, Message: p.Message,
		})
	}
}

// bundleNotes says what opening noted. That a folder has hidden files and what
// can be made again, which are left out, is nothing to say.
func (v *validator) bundleNotes() {
	for _, n := range v.b.Notes {
		base := path.Base(strings.TrimSuffix(n.Path, "/"))
		if n.Code == bundle.NoteLeftOut && n.Path != "" && (strings.HasPrefix(base, ".") || slices.Contains([]string{"__pycache__", "node_modules", "venv"}, base)) {
			continue
		}
		v.add(spot{file: bundle.Printable(n.Path)}, Note, n.Code, "%s", n.Msg)
	}
}

// converted judges a bundle of another format by what it would become.
func (v *validator) converted(raw []byte) {
	var (
		c    *manifest.Converted
		err  error
		file = v.b.Kind.ManifestFile()
	)
	if v.b.Kind == bundle.MCPB {
		c, err = manifest.FromMCPB(raw)
	} else {
		var files []string
		for _, f := range v.b.Files {
			files = append(files, f.Path)
		}
		c, err = manifest.FromSkill(path.Base(strings.ReplaceAll(v.b.Source.Ref, "\\", "/")), raw, files)
	}
	if err != nil {
		v.add(spot{file: file}, Error, CodeConverted, "%v", err)
		return
	}
	v.r.Manifest, v.r.ID, v.r.Name, v.r.Version = c.Manifest, c.Manifest.ID, c.Manifest.Name, c.Manifest.Version
	for _, w := range c.Warnings { // their places are in a text that nobody wrote
		v.add(spot{file: file}, Level(w.Level), w.Code, "%s", w.Message)
	}
	for _, n := range c.Notes {
		v.add(spot{file: file}, Note, CodeConverted, "%s", n)
	}
}

func (v *validator) readme() error {
	if !slices.ContainsFunc(v.b.Files, func(f bundle.File) bool {
		name, _, _ := strings.Cut(f.Path, ".")
		return strings.EqualFold(name, "README")
	}) {
		v.add(spot{}, Note, CodeReadme, "there is no README.md")
	}
	return nil
}

func (v *validator) has(p string) bool {
	_, ok := v.b.Find(p)
	return ok
}
