package builtin

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/toolset"
)

func utf16Bytes(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\uFEFF" + text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	five := "one\ntwo\nthree\nfour\nfive"
	for _, tt := range []struct {
		name, content string
		args          object
		text          string
		want          readData
	}{
		{"a whole file", "one\ntwo\n", nil, "one\ntwo\n",
			readData{Content: "one\ntwo\n", Offset: 1, Lines: 2, TotalLines: new(2), LineEndings: "lf"}},
		{"without a final newline", five, nil, five,
			readData{Content: five, Offset: 1, Lines: 5, TotalLines: new(5), LineEndings: "lf"}},
		{"a range", five, object{"offset": 2, "limit": 2}, "two\nthree\n[lines 2-3 of 5; go on with offset 4]",
			readData{Content: "two\nthree\n", Offset: 2, Lines: 2, TotalLines: new(5), Truncated: true, LineEndings: "lf"}},
		{"to the end", five, object{"offset": 4}, "four\nfive\n[lines 4-5, the end of the file]",
			readData{Content: "four\nfive", Offset: 4, Lines: 2, TotalLines: new(5), LineEndings: "lf"}},
		{"a limit that is the rest", five, object{"offset": 4, "limit": 2}, "four\nfive\n[lines 4-5, the end of the file]",
			readData{Content: "four\nfive", Offset: 4, Lines: 2, TotalLines: new(5), LineEndings: "lf"}},
		{"empty", "", nil, "[the file is empty]",
			readData{Offset: 1, TotalLines: new(0), LineEndings: "none"}},
		{"CRLF", "a\r\nb\r\n", nil, "a\nb\n[line endings are CRLF; edit_file keeps them]",
			readData{Content: "a\r\nb\r\n", Offset: 1, Lines: 2, TotalLines: new(2), LineEndings: "crlf"}},
		{"mixed line endings", "a\r\nb\n", nil, "a\nb\n[line endings are mixed; edit_file keeps them]",
			readData{Content: "a\r\nb\n", Offset: 1, Lines: 2, TotalLines: new(2), LineEndings: "mixed"}},
		{"a byte-order mark", bom + "über\n", nil, "über\n",
			readData{Content: "über\n", Offset: 1, Lines: 1, TotalLines: new(1), BOM: true, LineEndings: "lf"}},
		{"UTF-16, little end first", utf16Bytes(binary.LittleEndian, "grün 🌱\r\n"), nil, "grün 🌱\n[line endings are CRLF; edit_file keeps them; the file is UTF-16LE; edit_file can't edit it]",
			readData{Content: "grün 🌱\r\n", Offset: 1, Lines: 1, TotalLines: new(1), Encoding: utf16LE, BOM: true, LineEndings: "crlf"}},
		{"UTF-16, big end first", utf16Bytes(binary.BigEndian, "x"), nil, "x\n[the file is UTF-16BE; edit_file can't edit it]",
			readData{Content: "x", Offset: 1, Lines: 1, TotalLines: new(1), Encoding: utf16BE, BOM: true, LineEndings: "none"}},
		{"Latin-1", "gr\xFCn\n", nil, "gr\uFFFDn\n[some bytes are not UTF-8 and are shown as \uFFFD]",
			readData{Content: "gr\uFFFDn\n", Offset: 1, Lines: 1, TotalLines: new(1), LineEndings: "lf"}},
		{"text that looks like a bitmap", "BMW sells cars\n", nil, "BMW sells cars\n",
			readData{Content: "BMW sells cars\n", Offset: 1, Lines: 1, TotalLines: new(1), LineEndings: "lf"}},
		{"a binary file", "\x7fELF\x00\x01\x02", nil, "[f is a binary file (application/octet-stream, 7 bytes); read_file shows text only]",
			readData{Offset: 1, Encoding: notText, MediaType: "application/octet-stream", LineEndings: "none"}},
		{"a PDF without a NUL", "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n", nil, "[f is a binary file (application/pdf, 15 bytes); read_file shows text only]",
			readData{Offset: 1, Encoding: notText, MediaType: "application/pdf", LineEndings: "none"}},
		{"an image", picture.String(), nil, fmt.Sprintf("[f is an image (image/png, 3 by 2 pixels, %d bytes); read_file can't show images; the user can attach it to a question]", picture.Len()),
			readData{Offset: 1, Encoding: notText, MediaType: "image/png", LineEndings: "none"}},
		{"a broken image", "GIF89a\x00", nil, "[f is an image (image/gif, 7 bytes); read_file can't show images; the user can attach it to a question]",
			readData{Offset: 1, Encoding: notText, MediaType: "image/gif", LineEndings: "none"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ws := newWorkspace(t, map[string]string{"f": tt.content})
			args := object{"path": "f"}
			for k, v := range tt.args {
				args[k] = v
			}
			res := do(t, ws, "read_file", args)
			if res.Text != tt.text {
				t.Errorf("got  %q\nwant %q", res.Text, tt.text)
			}
			tt.want.Path, tt.want.Size = "f", int64(len(tt.content))
			if tt.want.Encoding == "" {
				tt.want.Encoding = utf8Text
			}
			if want, _ := encode(tt.want); string(res.Data) != string(want) {
				t.Errorf("got  %s\nwant %s", res.Data, want)
			}
		})
	}
}

func TestReadFileRefuses(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"src/main.go": "x\n", "README.md": "1\n2\n", "empty": ""})
	for _, tt := range []struct {
		name string
		args object
		want string
	}{
		{"a slip in the name", object{"path": "src/mian.go"}, "there is no file src/mian.go; did you mean src/main.go?"},
		{"another case", object{"path": "readme.md"}, "there is no file readme.md; did you mean README.md?"},
		{"nothing like it", object{"path": "src/zzz"}, "there is no file src/zzz; list_files shows what is there"},
		{"no such folder", object{"path": "lib/x.go"}, "there is no file lib/x.go: there is no folder lib"},
		{"a folder", object{"path": "src"}, "src is a folder; list_files shows what is in it"},
		{"the workspace", object{"path": "."}, ". is a folder; list_files shows what is in it"},
		{"a file as a folder", object{"path": "README.md/x"}, "README.md is a file, not a folder"},
		{"past the end", object{"path": "README.md", "offset": 3}, "README.md has 2 lines; offset 3 is past its end"},
		{"past the end of nothing", object{"path": "empty", "offset": 2}, "empty has 0 lines; offset 2 is past its end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := refused(t, ws, "read_file", tt.args); got != tt.want {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestReadFileIsBounded(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	ws := newWorkspace(t, map[string]string{
		"lines": strings.Repeat(line, 5000),
		"long":  strings.Repeat("é", 200_000) + "\nend\n",
		"later": "first\n" + strings.Repeat("y", 300_000) + "\n",
	})
	d := data[readData](t, do(t, ws, "read_file", object{"path": "lines"}))
	if len(d.Content) > defaultReadLimit || d.Lines != defaultReadLimit/100 || !d.Truncated || *d.TotalLines != 5000 {
		t.Errorf("got %d bytes, %d of %d lines, truncated %v", len(d.Content), d.Lines, *d.TotalLines, d.Truncated)
	}
	rest := data[readData](t, do(t, ws, "read_file", object{"path": "lines", "offset": d.Lines + 1}))
	if d.Content+rest.Content != strings.Repeat(line, 5000) || rest.Truncated {
		t.Error("both parts together are not the file")
	}
	res := do(t, ws, "read_file", object{"path": "long"})
	d = data[readData](t, res)
	if len(d.Content) != defaultReadLimit || !utf8.ValidString(d.Content) || !d.Truncated || *d.TotalLines != 2 || d.Lines != 1 {
		t.Errorf("got %d bytes, %d of %d lines", len(d.Content), d.Lines, *d.TotalLines)
	}
	if !strings.HasSuffix(res.Text, "\n[line 1 is cut after 262.1 kB; search_files finds text further on in it]") {
		t.Errorf("the text ends in %q", res.Text[len(res.Text)-100:])
	}
	res = do(t, ws, "read_file", object{"path": "later"})
	if want := "first\n[lines 1-1 of 2; go on with offset 2]"; res.Text != want {
		t.Errorf("got %q, want %q", clip(res.Text, 100), want)
	}
	small := Entries(Options{ReadLimit: 1000})[0]
	got, err := small.Runner.Run(t.Context(), toolset.Call{Workspace: ws, Args: json.RawMessage(`{"path":"lines"}`)})
	if err != nil || data[readData](t, got).Lines != 10 || !strings.Contains(small.Tool.Description, "at most 1 KiB per call") {
		t.Errorf("with a limit of 1000: %v, %s", err, small.Tool.Description)
	}
}

func TestReadFileOverTheCountLimit(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, nil)
	f, err := os.Create(filepath.Join(ws.Path, "big.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Repeat("0123456789abcde\n", 1000)); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(countLimit + 1); err != nil { // the rest is a hole
		t.Fatal(err)
	}
	res := do(t, ws, "read_file", object{"path": "big.log", "offset": 2, "limit": 1})
	if want := "0123456789abcde\n[lines 2-2, more follow (the file has 67.1 MB); go on with offset 3]"; res.Text != want {
		t.Errorf("got %q, want %q", clip(res.Text, 200), want)
	}
	if d := data[readData](t, res); d.TotalLines != nil || !d.Truncated {
		t.Errorf("got %+v", d)
	}
}
