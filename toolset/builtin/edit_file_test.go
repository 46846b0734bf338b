package builtin

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEditFile(t *testing.T) {
	t.Parallel()
	one := func(old, new string) object { return object{"old_text": old, "new_text": new} }
	for _, tt := range []struct {
		name, before string
		args         object
		after, text  string
	}{
		{"a word", "one two three\n", one("two", "2"), "one 2 three\n", "edited f: 1 replacement (line 1)"},
		{"deleted lines", "a\nb\nc\n", one("b\n", ""), "a\nc\n", "edited f: 1 replacement (line 2)"},
		{"every place", "x=1; x=2\nx=3\n", object{"old_text": "x", "new_text": "long_name", "replace_all": true}, "long_name=1; long_name=2\nlong_name=3\n", "edited f: 3 replacements (lines 1, 1, 2)"},
		{"several edits, each on what those before it made", "a b\n", object{"edits": []object{one("a", "c"), one("c b", "d")}}, "d\n", "edited f: 2 replacements (lines 1, 1)"},
		{"LF into a CRLF file", "a\r\nb\r\nc\r\n", one("a\nb\n", "a\nB1\nB2\n"), "a\r\nB1\r\nB2\r\nc\r\n", "edited f: 1 replacement (line 1)"},
		{"a new line inside a line of a CRLF file", "a b\r\nc\r\n", one("a b", "a\nb"), "a\r\nb\r\nc\r\n", "edited f: 1 replacement (line 1)"},
		{"a new line after the last of a CRLF file without its end", "a\r\nb", one("b", "b\nc"), "a\r\nb\r\nc", "edited f: 1 replacement (line 2)"},
		{"CRLF into an LF file", "a\nb\n", one("a\r\nb", "a\r\nx\r\nb"), "a\nx\nb\n", "edited f: 1 replacement (line 1)"},
		{"CRLF into a file of one line", "a", one("a", "a\r\nb"), "a\r\nb", "edited f: 1 replacement (line 1)"},
		{"LF into a file of one line", "a", one("a", "a\nb"), "a\nb", "edited f: 1 replacement (line 1)"},
		{"a newline alone in a CRLF file", "a\r\nb", one("a\nb", "a b"), "a b", "edited f: 1 replacement (line 1)"},
		{"mixed line endings stay mixed", "a\r\nb\nc\r\nd\n", one("a\nb\nc\nd", "a\nB\nc\nd"), "a\r\nB\nc\r\nd\n", "edited f: 1 replacement (line 1)"},
		{"the ending that most of the replaced lines have", "a\r\nb\r\nc\nd\n", one("a\nb\nc\n", "x\ny\nz\nw\n"), "x\r\ny\r\nz\r\nw\nd\n", "edited f: 1 replacement (line 1)"},
		{"asked for with CRLF where both stand", "a\nb\n-\na\r\nb\r\n", one("a\r\nb", "x"), "a\nb\n-\nx\r\n", "edited f: 1 replacement (line 4)"},
		{"a byte-order mark stays", bom + "a\r\n", one("a", "b"), bom + "b\r\n", "edited f: 1 replacement (line 1)"},
		{"a byte-order mark that the model gives is no text", bom + "a\n", one("\uFEFFa", "\uFEFFb"), bom + "b\n", "edited f: 1 replacement (line 1)"},
		{"no final newline stays none", "a\nb", one("a\nb\n", "a\nc\n"), "a\nc", "edited f: 1 replacement (line 1)"},
		{"a final newline is added on purpose", "a\nb", one("b", "b\n"), "a\nb\n", "edited f: 1 replacement (line 2)"},
		{"a lone CR is an ordinary character", "a\rb\r\nc", one("a\rb", "a\rx"), "a\rx\r\nc", "edited f: 1 replacement (line 1)"},
		{"CR before CRLF", "a\r\r\nb", one("\nb", "\nc"), "a\r\r\nc", "edited f: 1 replacement (line 1)"},
		{"part of a character stays whole", "é\n", one("é", "è"), "è\n", "edited f: 1 replacement (line 1)"},
		{"ASCII into Latin-1", "gr\xFCn 1\n", one("1", "2"), "gr\xFCn 2\n", "edited f: 1 replacement (line 1)"},
		{"matches that touch", "aaaa", object{"old_text": "aa", "new_text": "b", "replace_all": true}, "bb", "edited f: 2 replacements (lines 1, 1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ws := newWorkspace(t, map[string]string{"f": tt.before})
			tt.args["path"] = "f"
			res := do(t, ws, "edit_file", tt.args)
			if res.Text != tt.text {
				t.Errorf("got %q, want %q", res.Text, tt.text)
			}
			if got := get(t, ws, "f"); got != tt.after {
				t.Errorf("the file has %q, want %q", got, tt.after)
			}
			if d := data[editData](t, res); d.Path != "f" || d.Size != len(tt.after) || d.Replacements == 0 {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestEditFileRefuses(t *testing.T) {
	t.Parallel()
	code := "func main() {\n\tfmt.Println(\"hello\")\n\treturn\n}\n\nfunc other() {\n\treturn\n}\n"
	for _, tt := range []struct {
		name, before string
		args         object
		want         string
	}{
		{"several places", code, object{"old_text": "\treturn\n", "new_text": ""},
			"f: old_text stands there 2 times, in lines 3, 7; add lines around it until it stands there once, or set replace_all"},
		{"places that overlap", "aaa", object{"old_text": "aa", "new_text": "b"},
			"f: old_text stands there 2 times, in lines 1, 1; add lines around it until it stands there once, or set replace_all"},
		{"other indentation", code, object{"old_text": "    fmt.Println(\"hello\")\n    return", "new_text": "x"},
			"f: old_text is not in the file. Nearest to it: lines 2-3, with other indentation (the file has 1 tab where old_text has 4 spaces)\n" +
				"2: \tfmt.Println(\"hello\")\n3: \treturn\nCopy old_text exactly from the file."},
		{"spaces at the end of a line", code, object{"old_text": "func other() { \n\treturn", "new_text": "x"},
			"f: old_text is not in the file. Nearest to it: lines 6-7, with other spaces at the ends of lines\n" +
				"6: func other() {\n7: \treturn\nCopy old_text exactly from the file."},
		{"a slip", code, object{"old_text": "fmt.Println(\"helo\")", "new_text": "x"},
			"f: old_text is not in the file. Nearest to it: line 2\n2: \tfmt.Println(\"hello\")\nCopy old_text exactly from the file."},
		{"letter case", code, object{"old_text": "Func Other() {", "new_text": "x"},
			"f: old_text is not in the file. Nearest to it: line 6, with other letter case\n6: func other() {\nCopy old_text exactly from the file."},
		{"nothing like it", code, object{"old_text": "SELECT * FROM users", "new_text": "x"},
			"f: old_text is not in the file; read the file again and copy the text from it"},
		{"made before", code, object{"old_text": "fmt.Println(\"goodbye\")", "new_text": "fmt.Println(\"hello\")"},
			"f: old_text is not in the file; new_text is there already, in line 2, so this change may have been made before. Nearest to it: line 2\n" +
				"2: \tfmt.Println(\"hello\")\nCopy old_text exactly from the file."},
		{"no change", code, object{"old_text": "main\n", "new_text": "main\r\n"}, "f: old_text and new_text are the same"},
		{"one of several edits", code, object{"edits": []object{{"old_text": "main", "new_text": "start"}, {"old_text": "zzzzzz", "new_text": ""}}},
			"f: edit 2 of 2: old_text is not in the file; read the file again and copy the text from it\nNone of the edits was made."},
		{"both forms", code, object{"old_text": "a", "new_text": "b", "edits": []object{{"old_text": "main", "new_text": "start"}}},
			"give either old_text and new_text, or edits, not both"},
		{"neither form", code, object{}, "old_text is missing; give old_text and new_text, or edits"},
		{"half a form", code, object{"old_text": "a"}, "new_text is missing; give an empty one to delete old_text"},
		{"a binary file", "a\x00b", object{"old_text": "a", "new_text": "b"}, "f is a binary file; edit_file changes text only"},
		{"UTF-16", utf16Bytes(binary.LittleEndian, "abc"), object{"old_text": "a", "new_text": "b"}, "f is UTF-16LE; edit_file changes UTF-8 text only"},
		{"an umlaut into Latin-1", "gr\xFCn\n", object{"old_text": "gr", "new_text": "ü"},
			"f is not valid UTF-8, so only plain ASCII can be put in; new_text has other characters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ws := newWorkspace(t, map[string]string{"f": tt.before})
			tt.args["path"] = "f"
			if got := refused(t, ws, "edit_file", tt.args); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if get(t, ws, "f") != tt.before {
				t.Error("the file was changed")
			}
		})
	}
	ws := newWorkspace(t, map[string]string{"main.go": code})
	if got := refused(t, ws, "edit_file", object{"path": "mian.go", "old_text": "a", "new_text": "b"}); got != "there is no file mian.go; did you mean main.go?" {
		t.Errorf("got %q", got)
	}
	if _, _, err := applyEdits([]byte("a"), []edit{{OldText: "", NewText: "b"}}); err == nil || !strings.HasPrefix(err.Error(), "old_text is empty") {
		t.Errorf("an empty old_text: %v", err)
	}
}

func TestNearMissIsBounded(t *testing.T) {
	t.Parallel()
	file := strings.Repeat("some line of some length, number n\n", maxNearLines+1000)
	old := strings.Repeat("some line of some length, number m\n", 400)
	_, _, err := applyEdits([]byte(file), []edit{{OldText: old, NewText: "x"}})
	if err == nil || len(err.Error()) > 2000 || !strings.Contains(err.Error(), "\n… 388 more\n") {
		t.Errorf("got %d bytes: %s", len(err.Error()), clip(err.Error(), 500))
	}
	_, _, err = applyEdits([]byte(strings.Repeat("x", 1<<20)), []edit{{OldText: strings.Repeat("x", 1<<19) + "y", NewText: "z"}})
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("got %v", err)
	}
}

// genFile makes files that look like nothing on earth: all kinds of line
// endings, lone CRs, repeated text, no end.
func genFile(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "é", " ", "\t", "\n", "\r\n", "\r\n", "\r", "}\n"}), 0, 40).Draw(t, "parts")
	return strings.Join(parts, "")
}

// TestEditChangesNothingElse: for a stretch of any file, replaced by any text
// with plain newlines, the text becomes what it should, and every byte outside
// of the stretch stays.
func TestEditChangesNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mark := rapid.SampledFrom([]string{"", bom}).Draw(t, "mark")
		raw := genFile(t)
		d := newDocument([]byte(raw))
		if d.plain == "" {
			return
		}
		from := rapid.IntRange(0, len(d.plain)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(d.plain)).Draw(t, "to")
		old := d.plain[from:to]
		if strings.Contains(old, "\r\n") || from > 0 && d.plain[from-1] == '\r' {
			return // a lone CR before a newline, now or then: plain newlines can't say that
		}
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abé \n")), 0, 12, -1).Draw(t, "text")
		if text == old {
			return
		}
		e := edit{OldText: old, NewText: text}
		if rapid.Bool().Draw(t, "with CRLF") {
			e = edit{OldText: strings.ReplaceAll(old, "\n", "\r\n"), NewText: strings.ReplaceAll(text, "\n", "\r\n")}
		}
		out, done, err := applyEdits([]byte(mark+raw), []edit{e})
		if err != nil {
			if strings.Contains(err.Error(), "stands there") && len(d.matches(old, false)) > 1 {
				return
			}
			t.Fatalf("%q in %q: %v", e.OldText, raw, err)
		}
		got, marked := strings.CutPrefix(string(out), mark)
		if !marked || done[0].Replacements != 1 {
			t.Fatalf("got %q, %+v", out, done)
		}
		// The form with CRLF may mean another of several places than the drawn.
		if !slices.ContainsFunc(d.matches(old, false), func(p int) bool {
			head, tail := raw[:d.at(p)], raw[d.at(p+len(old)):]
			return plainNewlines(got) == d.plain[:p]+text+d.plain[p+len(old):] &&
				strings.HasPrefix(got, head) && strings.HasSuffix(got, tail) && len(got) >= len(head)+len(tail)
		}) {
			t.Fatalf("%q for %q in %q gave %q", text, old, raw, got)
		}
		if before := countEndings(raw); before.lf == 0 && before.crlf > 0 && countEndings(got).lf > 0 {
			t.Fatalf("%q for %q in %q gave %q: an LF in a CRLF file", text, old, raw, got)
		} else if before.crlf == 0 && before.lf > 0 && countEndings(got).crlf > 0 {
			t.Fatalf("%q for %q in %q gave %q: a CRLF in an LF file", text, old, raw, got)
		}
	})
}

// TestEditBackAndForth: an edit and its opposite give the file back, byte for
// byte, where the new text is its own.
func TestEditBackAndForth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := genFile(t)
		old := rapid.SampledFrom([]string{"a", "ab", "b", "é", "a\nb", "}\n"}).Draw(t, "old")
		all := rapid.Bool().Draw(t, "all")
		marker := "<<marker>>"
		if strings.HasSuffix(old, "\n") {
			marker += "\n"
		}
		there, _, err := applyEdits([]byte(raw), []edit{{OldText: old, NewText: marker, ReplaceAll: all}})
		if err != nil {
			return
		}
		back, _, err := applyEdits(there, []edit{{OldText: marker, NewText: old, ReplaceAll: all}})
		if err != nil {
			t.Fatalf("%q became %q: %v", raw, there, err)
		}
		// A newline that was replaced altogether has lost its kind.
		if old != "a\nb" && string(back) != raw {
			t.Fatalf("%q became %q and then %q", raw, there, back)
		}
		if plainNewlines(string(back)) != plainNewlines(raw) {
			t.Fatalf("%q became %q and then %q", raw, there, back)
		}
	})
}

func FuzzApplyEdits(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), "a\nb", "x\ny", false)
	f.Add([]byte(bom+"a\ra\r\n"), "a", "", true)
	f.Add([]byte("x\r\r\ny"), "\r\n", "\r", false)
	f.Add([]byte("foo"), "foo\n", "bar\n", false)
	f.Fuzz(func(t *testing.T, raw []byte, old, text string, all bool) {
		before := string(raw)
		out, done, err := applyEdits(raw, []edit{{OldText: old, NewText: text, ReplaceAll: all}})
		if string(raw) != before {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if len(err.Error()) > 8000 {
				t.Fatalf("a message of %d bytes", len(err.Error()))
			}
			return
		}
		if done[0].Replacements < 1 || !all && done[0].Replacements != 1 || len(done[0].Lines) == 0 {
			t.Fatalf("done %+v", done)
		}
		if strings.HasPrefix(before, bom) && !strings.HasPrefix(string(out), bom) {
			t.Fatalf("%q became %q: the byte-order mark is gone", before, out)
		}
		for _, l := range done[0].Lines {
			if l < 1 || l > strings.Count(before, "\n")+1 {
				t.Fatalf("line %d of %q", l, before)
			}
		}
	})
}

func BenchmarkNearMiss(b *testing.B) {
	var file strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&file, "\tif value%d := compute(%d); value%d > limit {\n", i, i*7, i)
	}
	raw := []byte(file.String())
	edits := []edit{{OldText: "    if value777 := compute(5439); value777 >= limit {", NewText: "x"}}
	for b.Loop() {
		if _, _, err := applyEdits(raw, edits); err == nil {
			b.Fatal("it matched")
		}
	}
}
