package consent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/consent"
)

func TestTextsShowWhatIsHidden(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                "",
		"go test ./...":   "go test ./...",
		"a = 1    // one": "a = 1    // one",
		"\tif x {\n\t\ty": "    if x {\n        y",
		"ls" + strings.Repeat(" ", 120) + "; rm -rf ~": "ls[120 blanks]; rm -rf ~",
		"ls" + strings.Repeat("\t", 30) + "; rm":       "ls[30 blanks]; rm",
		"ls" + strings.Repeat("\u00a0", 50) + "; rm":   "ls[50 blanks]; rm",
		"ls" + strings.Repeat(" \u3164", 30) + "; rm":  "ls[60 blanks]; rm",
		"ls\u00a0x":                              "ls‹U+00A0›x",
		"ls" + strings.Repeat("\u2800", 3) + "x": "ls[3 blanks]x",
		"a\u115f\u1160\uffa0\u180e\ufeffb":       "a[5 blanks]b",
		"a\u2000\u200f\u202f\u205f\u3000b":       "a[5 blanks]b",
		"a\u200b\u200c\u200db":                   "a[3 blanks]b",
		"x" + strings.Repeat("\U000e0041", 9):    "x[9 blanks]",
		"x" + strings.Repeat("\ufe0f", 9):        "x[9 blanks]",
		"ok ✔\ufe0f 👩\u200d💻":                    "ok ✔\ufe0f 👩\u200d💻",
		"❤\ufe0f\u200d🔥 é\ufe0f\ufe0f\ufe0fx":    "❤\ufe0f\u200d🔥 é\ufe0f[2 blanks]x",
		"a\ufe0fb":                               "a‹U+FE0F›b",
		"one" + strings.Repeat("\n", 41) + "two": "one\n[40 blank lines]\ntwo",
		"one\n \n\u3164\n\t\n\ntwo":              "one\n[4 blank lines]\ntwo",
		"one\n\n\ntwo\n":                         "one\n\n\ntwo\n",
		"\x1b[31m\a\x7f\u009b":                   "␛[31m␇␡‹U+009B›",
		"a\u202egpj.exe\u2066":                   "a‹U+202E›gpj.exe‹U+2066›",
		"a\r\nb\rc":                              "a\nb␍c",
		"\xff日本":                                 "\ufffd日本",
		strings.Repeat(" ", 30) + "deep":         strings.Repeat(" ", 30) + "deep",
		strings.Repeat(" ", 400) + "deep":        "[400 blanks]deep",
		"end   ":                                 "end[3 blanks]",
		"\u2028\ue000":                           "‹U+2028›‹U+E000›",
	} {
		if got := consent.Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestLinesStayOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\n  b\n":                           "a ␤ b",
		"a" + strings.Repeat("\n", 50) + "b": "a ␤ [49 blank lines] ␤ b",
		"write(x)" + strings.Repeat(" ", 99): "write(x)[99 blanks]",
		strings.Repeat("\n", 50) + "rm":      "[50 blank lines] ␤ rm",
	} {
		if got := consent.Line(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestSummariesNameWhatTheyLeaveOut(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("0123456789012345678901234567\n", 120)
	for _, c := range []struct {
		name, input, main, others string
		cut                       bool
	}{
		{"a command", `{"command":"ls -l"}`, "ls -l", "", false},
		{"blanks in front of the end", `{"command":"ls` + strings.Repeat(" ", 300) + `; rm"}`, "ls[300 blanks]; rm", "", false},
		{"a long command", `{"command":"` + strings.Repeat("x", 150) + `"}`, strings.Repeat("x", 100) + " … [50 bytes more]", "", true},
		{"content beside a path", `{"path":"a.go","content":` + quoted(lines) + `}`, "a.go", "content: 3.5 KB, 120 lines", false},
		{"a short argument", `{"command":"ls","cwd":"src"}`, "ls", "cwd: src", false},
		{"a number", `{"path":"a","limit":3}`, "a", "limit: 3", false},
		{"one unknown argument", `{"sql":"drop table x"}`, "drop table x", "", false},
		{"two unknown arguments", `{"b":"2","a":"1"}`, "", "b: 2|a: 1", false},
		{"unknown arguments with a long one", `{"b":"2","a":"` + strings.Repeat("x", 90) + `"}`, "", "b: 2|a: 90 bytes", true},
		{"a name that is there twice", `{"command":"ls","command":"rm"}`, "rm", "command: ls", true},
		{"another case", `{"command":"ls","Command":"rm"}`, "ls", "Command: rm", true},
		{"an escaped word", `{"path":"a","args":["\u0072\u006d"]}`, "a", `args: ["rm"]`, false},
		{"a hidden name", `{"path":"a","x\u3164\u3164":"1"}`, "a", "x[2 blanks]: 1", false},
		{"an empty command", `{"command":"","path":"a"}`, "a", "command: ", false},
		{"no object", `["rm"]`, `["rm"]`, "", true},
		{"broken", `{"command":`, `{"command":`, "", true},
		{"nothing", ``, "", "", false},
	} {
		s := consent.Read(json.RawMessage(c.input)).Summary(100)
		if s.Main != c.main || strings.Join(s.Others, "|") != c.others || s.Cut != c.cut {
			t.Errorf("%s: %q %q %v, want %q %q %v", c.name, s.Main, s.Others, s.Cut, c.main, c.others, c.cut)
		}
	}
}

func TestManyArgumentsAreCut(t *testing.T) {
	t.Parallel()
	in := map[string]string{"command": "ls"}
	for i := range 40 {
		in[strings.Repeat("n", i+1)] = "v"
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	call := consent.Read(raw)
	s := call.Summary(100)
	if !s.Cut || len(s.Others) != 13 || s.Others[12] != "… and 28 arguments more, 28 bytes" {
		t.Errorf("%+v", s)
	}
	if n := strings.Count(call.Details(), ": v\n"); n != 40 {
		t.Errorf("the details have %d of 40 arguments", n)
	}
}

func TestDetailsHaveAllOfTheCall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 1<<20) + "END"
	got := consent.Read(json.RawMessage(`{"command":"a\nb","body":"` + long + `"}`)).Details()
	if want := "command:\n  a\n  b\nbody: " + long + "\n"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// FuzzRead holds that a summary and the details show nothing that can't be seen, and
// that the details lose no visible character of a text.
func FuzzRead(f *testing.F) {
	f.Add(`{"command":"ls`+strings.Repeat(" ", 99)+`\u202e;rm","x":["\ud83d\ude00"]}`, 40)
	f.Add(`{"a":1,"A":"\u3164"}`, 0)
	f.Add("\x1b]0;x\a", 5)
	f.Fuzz(func(t *testing.T, input string, most int) {
		call := consent.Read(json.RawMessage(input))
		s := call.Summary(most)
		for _, text := range append(s.Others, s.Main, call.Details()) {
			if !utf8.ValidString(text) {
				t.Fatalf("%q: %q is not UTF-8", input, text)
			}
			for _, r := range text {
				if r != '\n' && !unicode.IsGraphic(r) && !consent.Blank(r) {
					t.Fatalf("%q: %q has %U", input, text, r)
				}
			}
			if strings.Contains(text, strings.Repeat(" ", 64)) || strings.Contains(text, "\u3164\u3164") {
				t.Fatalf("%q: %q has a run of blanks", input, text)
			}
		}
		if strings.Contains(strings.Join(s.Others, ""), "\n") {
			t.Fatalf("%q: an argument is not one line: %q", input, s.Others)
		}
		seen := func(s string) int {
			n := 0
			for _, r := range strings.ToValidUTF8(s, "") {
				if unicode.IsLetter(r) && !consent.Blank(r) {
					n++
				}
			}
			return n
		}
		if seen(consent.Text(input)) < seen(input) {
			t.Fatalf("%q lost a letter", input)
		}
	})
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // a text always has a form
	return string(raw)
}
