package script

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	const golden = "testdata/errors.txtar"
	ar, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range ar.Files {
		if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
			want[name] = string(f.Data)
		}
	}
	out := &txtar.Archive{Comment: ar.Comment}
	for _, f := range ar.Files {
		if strings.HasSuffix(f.Name, ".want") {
			continue
		}
		got := "no error\n"
		if _, err := parse(f.Name, f.Data, bounds()); err != nil {
			got = told(t, err)
		}
		out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
		if !*update && got != want[f.Name] {
			t.Errorf("%s:\n%s\nwant:\n%s", f.Name, got, want[f.Name])
		}
		if got == "no error\n" {
			t.Errorf("%s: no error", f.Name)
		}
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// told is every problem of an error, one a line.
func told(t *testing.T, err error) string {
	t.Helper()
	var le *LoadError
	if !errors.As(err, &le) {
		t.Fatalf("%T: %v", err, err)
	}
	var b strings.Builder
	for i := range le.Problems {
		b.WriteString(le.Line(i) + "\n")
	}
	return b.String()
}
