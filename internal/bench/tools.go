package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// runTools prints the figures of bundles, and of calls of Python tools.
func runTools(l *lab) error {
	packer := filepath.Join(l.dir, "packer")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", packer, "./internal/bench/packer")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build packer: %w\n%s", err, text)
	}
	return errors.Join(importBundle(l, packer), installBundle(l, packer), validateExample(l, packer), runValidate(l), hostile(l, packer, "zip", "open"), hostile(l, packer, "yaml", "parse"), pythonCalls(l))
}

// importBundle compares importing a bundle of 2,000 files with unzip and one
// look at each file. Both make a new folder each time, by a shell that becomes
// them.
func importBundle(l *lab, packer string) error {
	if _, err := exec.LookPath("unzip"); err != nil {
		fmt.Println("\nimporting: unzip is not on the PATH")
		return nil
	}
	archive := filepath.Join(l.dir, "large.zip")
	if err := largeBundle(archive, 2_000); err != nil {
		return err
	}
	out := filepath.Join(l.dir, "out")
	if err := os.MkdirAll(filepath.Join(out, "walked"), 0o755); err != nil {
		return err
	}
	if text, err := exec.Command("unzip", "-q", archive, "-d", filepath.Join(out, "walked")).CombinedOutput(); err != nil {
		return fmt.Errorf("unzip: %w: %s", err, text)
	}
	programs := []program{
		{"unzip", []string{"sh", "-c", "exec unzip -q " + archive + " -d " + out + "/u$$"}, nil, nil},
		{"stat walk", []string{packer, "walk", filepath.Join(out, "walked")}, nil, nil},
		{"open", []string{packer, "open", archive}, nil, nil},
		{"import", []string{"sh", "-c", "exec " + packer + " import " + archive + " " + out + "/p$$"}, nil, nil},
	}
	f, err := l.measure(programs, 15)
	if err != nil {
		return err
	}
	fmt.Println("\nimporting a bundle of 2,000 files (medians of 15)")
	for i, p := range programs {
		fmt.Printf("  %-10s %9s  cpu %9s  peak %s\n", p.label, ms(f[i].wall), ms(f[i].cpu), mb(f[i].peak))
	}
	fmt.Printf("  import / (unzip + stat walk)  %s wall, %s cpu;  target: at most 1.5 × unzip plus the walk: %s\n",
		ratio(f[3].wall, f[0].wall+f[1].wall), ratio(f[3].cpu, f[0].cpu+f[1].cpu),
		ratio(f[3].wall, f[0].wall*3/2+f[1].wall)+" of it")
	return nil
}

// largeBundle writes a toolset of n files of text, a kilobyte or two each.
func largeBundle(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	words := strings.Fields("the quick brown fox jumps over a lazy dog and returns rows columns values None True def import")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		name := fmt.Sprintf("assets/%02d/%04d.txt", i%40, i)
		if i == 0 {
			name = "toolset.yaml"
		}
		out, err := w.Create(name)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		for range 150 + random.IntN(200) {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		if _, err := out.Write(text.Bytes()); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), f.Close())
}

func validateExample(l *lab, packer string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		fmt.Println("\nvalidating: python3 is not on the PATH")
		return nil
	}
	// never through a shim, which takes longer than what it starts
	if real, err := exec.Command(python, "-c", "import sys; print(sys.executable)").Output(); err == nil {
		python = strings.TrimSpace(string(real))
	}
	programs := []program{
		{"python3 -c pass", []string{python, "-c", "pass"}, nil, nil},
		{"validate", []string{packer, "validate", filepath.Join("testdata", "toolsets", "app-builder")}, nil, nil},
	}
	f, err := l.measure(programs, 31)
	if err != nil {
		return err
	}
	fmt.Println("\nvalidating the App Builder: manifest and files (medians of 31)")
	for i, p := range programs {
		fmt.Printf("  %-16s %9s  cpu %9s  peak %s\n", p.label, ms(f[i].wall), ms(f[i].cpu), mb(f[i].peak))
	}
	fmt.Printf("  ratio %s, target: under 3\n", ratio(f[1].wall, f[0].wall))
	return nil
}

// hostile measures the refusal of each hostile fixture of a kind beside that of
// a file that isn't there.
func hostile(l *lab, packer, kind, do string) error {
	shared := os.Getenv("FETTLE_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	dir := filepath.Join(shared, "data", "security")
	raw, err := os.ReadFile(filepath.Join(dir, kind, "MANIFEST.json"))
	if err != nil {
		fmt.Println("\nrefusing: the shared test data is not at", shared)
		return nil
	}
	var cases []struct{ File, Expect string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		return err
	}
	programs := []program{{"nothing there", []string{packer, do, filepath.Join(dir, "none")}, nil, nil}}
	for _, c := range cases {
		if c.Expect == "reject" {
			programs = append(programs, program{filepath.Base(c.File), []string{packer, do, filepath.Join(dir, filepath.FromSlash(c.File))}, nil, nil})
		}
	}
	f, err := l.measure(programs, 5)
	if err != nil {
		return err
	}
	slowest, largest := 0, 0
	for i := range f {
		if f[i].wall > f[slowest].wall {
			slowest = i
		}
		if f[i].peak > f[largest].peak {
			largest = i
		}
	}
	fmt.Printf("\nrefusing %d hostile fixtures: %s (medians of 5)\n", len(programs)-1, kind)
	for _, i := range []int{0, slowest, largest} {
		fmt.Printf("  %-28s %9s  peak %s\n", programs[i].label, ms(f[i].wall), mb(f[i].peak))
	}
	fmt.Printf("  beyond the program's start: %s and %s at most; targets: 100 ms and 20 MB\n",
		ms(f[slowest].wall-f[0].wall), mb(f[largest].peak-f[0].peak))
	return nil
}
