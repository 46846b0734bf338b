package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// releaser is what counts of .goreleaser.yaml.
type releaser struct {
	Version int `yaml:"version"`
	Builds  []struct {
		Main         string   `yaml:"main"`
		Env          []string `yaml:"env"`
		GOOS         []string `yaml:"goos"`
		GOARCH       []string `yaml:"goarch"`
		Flags        []string `yaml:"flags"`
		LDFlags      []string `yaml:"ldflags"`
		ModTimestamp string   `yaml:"mod_timestamp"`
	} `yaml:"builds"`
	Archives []struct {
		Formats   []string `yaml:"formats"`
		Overrides []struct {
			GOOS    string   `yaml:"goos"`
			Formats []string `yaml:"formats"`
		} `yaml:"format_overrides"`
		Files []struct {
			Src string `yaml:"src"`
		} `yaml:"files"`
	} `yaml:"archives"`
	Release struct {
		GitHub struct {
			Owner string `yaml:"owner"`
			Name  string `yaml:"name"`
		} `yaml:"github"`
	} `yaml:"release"`
}

// checkRelease wants a release of each target that CI builds and of no other,
// reproducible, without cgo, with the files that belong to it. exists tells
// what is in the tree; variables are the string variables that the linker can
// set.
func checkRelease(r releaser, targets []string, exists func(string) bool, variables []string) []string {
	if r.Version != 2 || len(r.Builds) != 1 || len(r.Archives) != 1 {
		return []string{fmt.Sprintf("version %d, %d builds, %d archives; want 2, 1, 1", r.Version, len(r.Builds), len(r.Archives))}
	}
	var out []string
	b := r.Builds[0]
	var built []string
	for _, goos := range b.GOOS {
		for _, arch := range b.GOARCH {
			built = append(built, goos+"/"+arch)
		}
	}
	slices.Sort(built)
	targets = slices.Sorted(slices.Values(targets))
	if !slices.Equal(built, targets) {
		out = append(out, fmt.Sprintf("a release is built for %v, CI for %v", built, targets))
	}
	for want, in := range map[string][]string{"CGO_ENABLED=0": b.Env, "-trimpath": b.Flags, "-s -w": b.LDFlags} {
		if !slices.Contains(in, want) {
			out = append(out, "the build lacks "+want)
		}
	}
	if !strings.Contains(b.ModTimestamp, "Commit") {
		out = append(out, "the program's time is not the commit's")
	}
	out = append(out, checkLinkerFlags(b.LDFlags, variables)...)
	for _, f := range r.Archives[0].Files {
		if !exists(f.Src) {
			out = append(out, "an archive holds "+f.Src+", which is not in the tree")
		}
	}
	if gh := r.Release.GitHub; "github.com/"+gh.Owner+"/"+gh.Name != modulePath {
		out = append(out, fmt.Sprintf("a release goes to %s/%s, the module is %s", gh.Owner, gh.Name, modulePath))
	}
	return out
}

func checkLinkerFlags(flags, variables []string) []string {
	set := 0
	var out []string
	for _, flag := range flags {
		assignment, ok := strings.CutPrefix(flag, "-X ")
		if !ok {
			continue
		}
		set++
		name, value, _ := strings.Cut(assignment, "=")
		if !slices.Contains(variables, name) {
			out = append(out, fmt.Sprintf("-X %s: there is no such string variable, and the linker says nothing", name))
		}
		if !strings.Contains(value, ".Version") {
			out = append(out, fmt.Sprintf("-X %s is set to %q, not to the version", name, value))
		}
	}
	if set == 0 {
		out = append(out, "the linker sets no version")
	}
	return out
}

// linkable gives the string variables of a tree that the linker's -X can set:
// those without a value, or with a literal.
func linkable(t tree) []string {
	var out []string
	for _, f := range t.sources() {
		for _, decl := range f.ast.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if stringVariable(spec, i) {
						out = append(out, linkerPath(f)+"."+name.Name)
					}
				}
			}
		}
	}
	return out
}

// linkerPath is how the linker names a file's package.
func linkerPath(f *file) string {
	if f.command() {
		return "main"
	}
	return modulePath + strings.TrimPrefix(f.room, ".")
}

func stringVariable(spec *ast.ValueSpec, i int) bool {
	if len(spec.Values) > i {
		lit, ok := spec.Values[i].(*ast.BasicLit)
		return ok && lit.Kind == token.STRING
	}
	id, ok := spec.Type.(*ast.Ident)
	return ok && id.Name == "string"
}

// workflow is what counts of a GitHub workflow.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Timeout int `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses string `yaml:"uses"`
			Run  string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// checkWorkflow wants jobs that end, that may only read, and that run .ci/run
// rather than a list of their own.
func checkWorkflow(name string, w workflow) []string {
	var out []string
	if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		out = append(out, fmt.Sprintf("%s: permissions are %v, want contents: read alone", name, w.Permissions))
	}
	runs := false
	for job, j := range w.Jobs {
		if j.Timeout == 0 {
			out = append(out, fmt.Sprintf("%s: job %s has no timeout-minutes", name, job))
		}
		for _, s := range j.Steps {
			runs = runs || strings.Contains(s.Run, ".ci/run")
			if s.Uses != "" && !strings.Contains(s.Uses, "@") {
				out = append(out, fmt.Sprintf("%s: job %s uses %s without a version", name, job, s.Uses))
			}
		}
	}
	if !runs {
		out = append(out, name+": no job runs .ci/run")
	}
	return out
}

// loadYAML reads a YAML file of the tree.
func loadYAML[T any](t *testing.T, name string) T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func TestRelease(t *testing.T) {
	t.Parallel()
	dir := root(t)
	data, err := os.ReadFile(filepath.Join(dir, ".ci", "targets"))
	if err != nil {
		t.Fatal(err)
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	report(t, checkRelease(loadYAML[releaser](t, ".goreleaser.yaml"), strings.Fields(string(data)), exists, linkable(project(t))))
}

func TestWorkflow(t *testing.T) {
	t.Parallel()
	const name = ".github/workflows/ci.yml"
	report(t, checkWorkflow(name, loadYAML[workflow](t, name)))
}

// TestIssueForms reads what GitHub would otherwise only refuse when somebody
// wants to report something.
func TestIssueForms(t *testing.T) {
	t.Parallel()
	forms, err := filepath.Glob(filepath.Join(root(t), ".github", "ISSUE_TEMPLATE", "*.yml"))
	if err != nil || len(forms) < 2 {
		t.Fatalf("issue forms: %v, %v", forms, err)
	}
	for _, path := range forms {
		name := ".github/ISSUE_TEMPLATE/" + filepath.Base(path)
		form := loadYAML[struct {
			Name        string `yaml:"name"`
			Description string `yaml:"description"`
			Blank       *bool  `yaml:"blank_issues_enabled"`
			Body        []struct {
				Type       string         `yaml:"type"`
				ID         string         `yaml:"id"`
				Attributes map[string]any `yaml:"attributes"`
			} `yaml:"body"`
		}](t, name)
		if form.Blank != nil { // config.yml
			continue
		}
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s lacks a name, a description or a body", name)
		}
		for i, part := range form.Body {
			kinds := []string{"markdown", "textarea", "input", "dropdown", "checkboxes"}
			if !slices.Contains(kinds, part.Type) || len(part.Attributes) == 0 || part.Type != "markdown" && part.ID == "" {
				t.Errorf("%s: part %d (%s) is no part of a form", name, i+1, part.Type)
			}
		}
	}
}

func TestCheckRelease(t *testing.T) {
	t.Parallel()
	const good = `
version: 2
builds:
  - env: [CGO_ENABLED=0]
    goos: [linux, windows]
    goarch: [amd64]
    flags: [-trimpath]
    ldflags: ["-s -w", "-X ` + modulePath + `/commands.version={{ .Version }}"]
    mod_timestamp: "{{ .CommitTimestamp }}"
archives: [{files: [{src: LICENSE}]}]
release: {github: {owner: fettle-cli, name: fettle}}
`
	targets, variables := []string{"windows/amd64", "linux/amd64"}, []string{modulePath + "/commands.version"}
	check := func(text string) []string {
		var r releaser
		if err := yaml.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		return checkRelease(r, targets, func(name string) bool { return name == "LICENSE" }, variables)
	}
	wantComplaints(t, check(good))
	for from, c := range map[string]struct{ to, want string }{
		"[amd64]":                       {"[amd64, arm64]", `for \[linux/amd64 linux/arm64`},
		"CGO_ENABLED=0":                 {"CGO_ENABLED=1", `lacks CGO_ENABLED=0`},
		"[-trimpath]":                   {"[]", `lacks -trimpath`},
		"{{ .CommitTimestamp }}":        {"{{ .Timestamp }}", `not the commit's`},
		"commands.version":              {"main.version", `no such string variable`},
		"-X ":                           {"-Y ", `sets no version`},
		"commands.version={{ .Version ": {"commands.version={{ .Date ", `not to the version`},
		"src: LICENSE":                  {"src: COPYING", `holds COPYING`},
		"name: fettle}":                 {"name: other}", `goes to fettle-cli/other`},
		"version: 2":                    {"version: 1", `version 1`},
	} {
		wantComplaints(t, check(strings.Replace(good, from, c.to, 1)), c.want)
	}
}

func TestLinkable(t *testing.T) {
	t.Parallel()
	got := linkable(madeUp(t, map[string]string{
		"main.go":       "package main\nvar a string",
		"commands/v.go": "package commands\nvar version = \"\"\nvar n = 1\nvar f = g()\nconst c = \"\"",
	}))
	want := []string{modulePath + "/commands.version", "main.a"}
	if !slices.Equal(got, want) {
		t.Errorf("linkable = %v, want %v", got, want)
	}
}

func TestCheckWorkflow(t *testing.T) {
	t.Parallel()
	var w workflow
	bad := "permissions: {contents: write}\njobs: {a: {steps: [{uses: actions/checkout}, {run: go test}]}}"
	if err := yaml.Unmarshal([]byte(bad), &w); err != nil {
		t.Fatal(err)
	}
	wantComplaints(t, checkWorkflow("ci.yml", w), `permissions are`, `no timeout-minutes`, `without a version`, `no job runs`)
}
