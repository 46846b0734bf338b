// Command generate writes the builtin table of models from a checkout of
// models.dev (https://github.com/anomalyco/models.dev, MIT licence):
//
//	go run ./engine/models/facts/generate -from DIR -commit HASH -date 2026-07-02
//
// It reads the TOML files of the providers that the table has, merged over the facts of
// the model that a file names as its base_model. It leaves out models that are
// deprecated. The result is engine/models/facts/builtin.json.gz; the same checkout gives
// the same bytes. It is for maintainers and not a part of the program.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/fettle-cli/fettle/engine/models/facts"
)

const licence = "MIT licence, Copyright (c) 2025 models.dev"

func main() {
	from := flag.String("from", "", "the checkout of models.dev")
	commit := flag.String("commit", "", "its commit")
	date := flag.String("date", "", "the day of the commit, YYYY-MM-DD")
	to := flag.String("to", "engine/models/facts/builtin.json.gz", "the file to write")
	flag.Parse()
	if err := generate(*from, *commit, *date, *to); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(from, commit, date, to string) error {
	if from == "" || len(commit) < 8 || date == "" {
		return errors.New("-from, -commit and -date are needed")
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	all := map[string]any{}
	for _, name := range facts.Providers() {
		models, err := modelsOf(root.FS(), name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all[name] = map[string]any{"models": models}
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	t, err := facts.Parse(data)
	if err != nil {
		return err
	}
	t.Source, t.Date, t.Licence = "models.dev "+commit[:8], date, licence
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	n, err := t.WriteTo(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	count := 0
	for _, models := range t.Providers {
		count += len(models)
	}
	fmt.Printf("%s: %d providers, %d models, %d bytes\n", to, len(t.Providers), count, n)
	return nil
}

// modelsOf reads the models of one provider, by name.
func modelsOf(fsys fs.FS, provider string) (map[string]any, error) {
	dir := path.Join("providers", provider, "models")
	models := map[string]any{}
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".toml" {
			return err
		}
		model, err := read(fsys, name)
		if err != nil {
			return err
		}
		if base, ok := model["base_model"].(string); ok {
			under, err := read(fsys, path.Join("models", base+".toml"))
			if err != nil {
				return err
			}
			model = over(model, under)
		}
		if status, _ := model["status"].(string); status == "deprecated" {
			return nil
		}
		models[strings.TrimSuffix(strings.TrimPrefix(name, dir+"/"), ".toml")] = model
		return nil
	})
	return models, err
}

func read(fsys fs.FS, name string) (map[string]any, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if err := toml.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// over returns the fields of a above those of b, tables merged.
func over(a, b map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range b {
		out[k] = v
	}
	for k, v := range a {
		at, aok := v.(map[string]any)
		bt, bok := b[k].(map[string]any)
		if aok && bok {
			v = over(at, bt)
		}
		out[k] = v
	}
	return out
}
