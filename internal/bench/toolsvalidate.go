package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// runValidate compares `fettle toolset validate`, all that it looks at, with an
// interpreter that does nothing, and with fettle that does nothing.
func runValidate(l *lab) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		fmt.Println("\nvalidating: python3 is not on the PATH")
		return nil
	}
	// never through a shim, which takes longer than what it starts
	if real, err := exec.Command(python, "-c", "import sys; print(sys.executable)").Output(); err == nil {
		python = strings.TrimSpace(string(real))
	}
	example := func(name string) []string {
		return []string{l.fettle, "toolset", "validate", filepath.Join("testdata", "toolsets", name)}
	}
	programs := []program{
		{"python3 -c pass", []string{python, "-c", "pass"}, nil, nil},
		{"fettle version", []string{l.fettle, "version"}, nil, nil},
		{"App Builder", example("app-builder"), nil, nil},
		{"my-toolset", example("my-toolset"), nil, nil},
	}
	f, err := l.measure(programs, 31)
	if err != nil {
		return err
	}
	fmt.Println("\nfettle toolset validate: everything (medians of 31)")
	for i, p := range programs {
		fmt.Printf("  %-16s %9s  cpu %9s  peak %s\n", p.label, ms(f[i].wall), ms(f[i].cpu), mb(f[i].peak))
	}
	fmt.Printf("  App Builder / python3 -c pass  %s wall, %s cpu, target: under 3\n", ratio(f[2].wall, f[0].wall), ratio(f[2].cpu, f[0].cpu))
	return nil
}
