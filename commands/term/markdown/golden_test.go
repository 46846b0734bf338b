package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
)

var update = flag.Bool("update", false, "write the golden files anew")

// visible shows escape codes in golden files as ⟨1⟩, so that reading one does
// no harm and diffs are readable.
func visible(s string) string {
	return sgr.ReplaceAllStringFunc(s, func(code string) string {
		return "⟨" + code[2:len(code)-1] + "⟩"
	})
}

func TestGolden(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("testdata/golden/*.md")
	if err != nil || len(sources) < 9 {
		t.Fatalf("found %d sources, %v", len(sources), err)
	}
	for _, path := range sources {
		for _, v := range []struct {
			name  string
			width int
			depth term.Depth
		}{{"colour", 60, term.Colours16}, {"plain", 60, term.NoColour}, {"narrow", 40, term.Colours16}} {
			name := strings.TrimSuffix(filepath.Base(path), ".md")
			t.Run(name+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				golden(t, path, strings.TrimSuffix(path, ".md")+"."+v.name+".txt", v.width, v.depth)
			})
		}
	}
}

func golden(t *testing.T, path, want string, width int, d term.Depth) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := render(t, string(src), width, d)
	if why := wrong(got); why != "" {
		t.Error(why)
	}
	if *update {
		if err := os.WriteFile(want, []byte(visible(got)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if visible(got) != string(old) {
		t.Errorf("%s differs; got\n%s", want, visible(got))
	}
	for cut := 0; cut < len(src); cut += 17 { // every byte would take seconds
		if in := renderChunks(t, []string{string(src[:cut]), string(src[cut:])}, width, d); in != got {
			t.Fatalf("cut at byte %d it differs:\n%s", cut, visible(in))
		}
	}
	bytewise := strings.SplitAfter(string(src), "")
	if in := renderChunks(t, bytewise, width, d); in != got {
		t.Errorf("byte by byte it differs:\n%s", visible(in))
	}
}

// wrong tells what must not be in any output.
func wrong(out string) string {
	if out != "" && !strings.HasSuffix(out, "\n") {
		return "the last line isn't ended"
	}
	for i, line := range strings.Split(out, "\n") {
		codes := sgr.FindAllString(line, -1)
		if len(codes) > 0 && codes[len(codes)-1] != reset {
			return fmt.Sprintf("line %d leaves its colours on: %q", i+1, line)
		}
		text := sgr.ReplaceAllString(line, "")
		if strings.TrimRight(text, " \t") != text {
			return fmt.Sprintf("line %d ends in spaces: %q", i+1, line)
		}
		if clean := term.CleanText(text); clean != text {
			return fmt.Sprintf("line %d isn't clean: %q", i+1, line)
		}
	}
	return ""
}
