// Command packer does alone what commands do with bundles, so that figures of
// it hold nothing else: `packer import BUNDLE FOLDER` opens, judges and
// extracts one, `packer validate BUNDLE` reads its manifest and looks for the
// files that it names, `packer open BUNDLE` tells whether it is refused, and
// `packer walk FOLDER` looks at each file once, as a store does that wants to
// know what is there. It is no tool for people.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("expected what to do, and with what")
	}
	if args[0] == "walk" {
		return walk(args[1])
	}
	if args[0] == "parse" {
		return parse(args[1])
	}
	b, err := bundle.Open(ctx, args[1], bundle.Options{})
	if args[0] == "open" {
		if err != nil {
			fmt.Println("refused:", err)
			return nil
		}
		return b.Close()
	}
	if err != nil {
		return err
	}
	defer b.Close()
	switch {
	case args[0] == "import" && len(args) == 3:
		return b.Extract(ctx, args[2], bundle.ExtractOptions{})
	case args[0] == "validate":
		return validate(b)
	}
	return fmt.Errorf("%s is not known", args[0])
}

func parse(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		fmt.Println("refused:", err)
		return nil
	}
	d := manifest.Parse(manifest.FileName, raw, manifest.Options{})
	fmt.Println(len(d.Problems), "problems")
	return nil
}

func walk(dir string) error {
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	fmt.Println(total)
	return err
}

func validate(b *bundle.Bundle) error {
	raw, err := b.Manifest()
	if err != nil {
		return err
	}
	d := manifest.Parse(manifest.FileName, raw, manifest.Options{})
	if err := d.Err(); err != nil {
		return err
	}
	for _, ref := range d.Manifest.Files() {
		found := slices.ContainsFunc(ref.Paths, func(p string) bool { _, ok := b.Find(p); return ok })
		if !found {
			return fmt.Errorf("%s: none of %v is there", ref.Pointer, ref.Paths)
		}
	}
	fmt.Println(len(d.Manifest.Tools), "tools,", len(d.Problems), "warnings")
	return nil
}
