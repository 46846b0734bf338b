package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// installBundle compares `toolset import`, records and mirror included, with
// unzip and one look at each file.
func installBundle(l *lab, packer string) error {
	if _, err := exec.LookPath("unzip"); err != nil {
		fmt.Println("\ninstalling: unzip is not on the PATH")
		return nil
	}
	archive := filepath.Join(l.dir, "toolset.zip")
	if err := largeToolset(archive, 2_000); err != nil {
		return err
	}
	out := filepath.Join(l.dir, "installed")
	walked := filepath.Join(out, "walked")
	if err := os.MkdirAll(walked, 0o755); err != nil {
		return err
	}
	if text, err := exec.Command("unzip", "-q", archive, "-d", walked).CombinedOutput(); err != nil {
		return fmt.Errorf("unzip: %w: %s", err, text)
	}
	config := filepath.Join(out, "config.yaml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		return err
	}
	fettle := func(label, data, command string) program {
		return program{label, []string{"sh", "-c", "FETTLE_CONFIG=" + config + " FETTLE_DATA=" + data + " exec " + l.fettle + " " + command}, nil, nil}
	}
	again := filepath.Join(out, "again")
	programs := []program{
		{"unzip", []string{"sh", "-c", "exec unzip -q " + archive + " -d " + out + "/u$$"}, nil, nil},
		{"stat walk", []string{packer, "walk", walked}, nil, nil},
		fettle("toolset import", out+"/d$$", "toolset import --yes "+archive),
		fettle("the same once more", again, "toolset import --yes "+archive),
		fettle("toolset list", again, "toolset list"),
	}
	f, err := l.measure(programs, 15)
	if err != nil {
		return err
	}
	fmt.Println("\ninstalling a toolset of 2,000 files by the command (medians of 15)")
	for i, p := range programs {
		fmt.Printf("  %-18s %9s  cpu %9s  peak %s\n", p.label, ms(f[i].wall), ms(f[i].cpu), mb(f[i].peak))
	}
	fmt.Printf("  toolset import / (1.5 × unzip + stat walk)  %s wall;  target: at most 1\n", ratio(f[2].wall, f[0].wall*3/2+f[1].wall))
	return nil
}

// largeToolset writes a toolset that can be imported, of n files of text.
func largeToolset(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	add := func(name, text string) error {
		out, err := w.Create(name)
		if err == nil {
			_, err = out.Write([]byte(text))
		}
		return err
	}
	err = errors.Join(
		add("toolset.yaml", "manifest_version: \"1\"\nid: large\nname: Large\nversion: \"1.0.0\"\ndescription: Large\ntools:\n"+
			"  - {id: one, description: one, entrypoint: \"one:run\", input_schema: {type: object}}\n"),
		add("tools/one.py", "def run(workspace):\n    return {}\n"))
	words := strings.Fields("the quick brown fox jumps over a lazy dog and returns rows columns values None True def import")
	random := rand.New(rand.NewPCG(1, 2))
	for i := 2; i < n && err == nil; i++ {
		var text bytes.Buffer
		for range 150 + random.IntN(200) {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		err = add(fmt.Sprintf("assets/%02d/%04d.txt", i%40, i), text.String())
	}
	return errors.Join(err, w.Close(), f.Close())
}
