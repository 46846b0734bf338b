package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

const (
	// MaxCompared is how much of a file or of a value is read and shown, in
	// bytes: far more than a manifest can expect.
	MaxCompared = 256 << 10
	// maxMismatches bounds what one test has to say.
	maxMismatches = 20
)

// writeFiles puts a test's files into its workspace.
func writeFiles(root *os.Root, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if dir := path.Dir(name); dir != "." {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make the test's files: %w", err)
			}
		}
		if err := root.WriteFile(name, []byte(files[name]), 0o644); err != nil {
			return fmt.Errorf("make the test's files: %w", err)
		}
	}
	return nil
}

// comparer holds what came of a call against what a test expects.
type comparer struct {
	t   manifest.Test
	res *Result
}

func (c *comparer) add(what, message string, sides ...string) {
	if len(c.res.Mismatches) >= maxMismatches {
		return
	}
	m := Mismatch{What: what, Message: message}
	if len(sides) == 2 {
		m.Want, m.Got = new(cut(sides[0])), new(cut(sides[1]))
	}
	c.res.Mismatches = append(c.res.Mismatches, m)
}

func cut(s string) string {
	if len(s) > MaxCompared {
		return strings.ToValidUTF8(s[:MaxCompared], "") + "…"
	}
	return s
}

// returned compares what a call has returned.
func (c *comparer) returned(got toolset.Result, output json.RawMessage) {
	if want := c.t.Expect.Error; want != "" {
		c.add("error", "it was expected to fail, and it succeeded", want, got.Text)
		return
	}
	data := got.Data
	textOnly := len(bytes.TrimSpace(data)) == 0 || string(bytes.TrimSpace(data)) == "null"
	if textOnly {
		data, _ = json.Marshal(map[string]string{"text": got.Text}) // texts can be encoded
	}
	for _, p := range outputProblems(output, data) {
		c.add("output_schema", "what is returned doesn't fit output_schema: "+p)
	}
	if len(c.t.Expect.Return) == 0 {
		return
	}
	want, err := decode(c.t.Expect.Return)
	if err != nil {
		c.add("return", "what is expected can't be read: "+err.Error())
		return
	}
	value, err := decode(data)
	if err != nil {
		c.add("return", "what is returned is no JSON: "+err.Error())
		return
	}
	if text, ok := want.(string); ok && isText(value) {
		if text != got.Text {
			c.add("return", "another text is returned", text, got.Text)
		}
		return
	}
	c.value("return", want, value)
}

// isText tells whether a value is all that a tool has which returns a text.
func isText(v any) bool {
	fields, ok := v.(map[string]any)
	if !ok || len(fields) != 1 {
		return false
	}
	_, ok = fields["text"].(string)
	return ok
}

func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// value compares one value, and those inside it that are expected.
func (c *comparer) value(at string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		if !ok {
			c.differs(at, want, got)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			value, ok := fields[name]
			if !ok {
				c.add(at+"/"+name, "it isn't there", compact(want[name]), "")
				continue
			}
			c.value(at+"/"+name, want[name], value)
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			c.differs(at, want, got)
			return
		}
		for i := range want {
			c.value(at+"/"+strconv.Itoa(i), want[i], list[i])
		}
	case json.Number:
		if n, ok := got.(json.Number); !ok || !sameNumber(want, n) {
			c.differs(at, want, got)
		}
	default:
		if want != got { // texts, booleans and null
			c.differs(at, want, got)
		}
	}
}

func (c *comparer) differs(at string, want, got any) {
	w, g := compact(want), compact(got)
	c.add(at, "it is "+short(g)+", and "+short(w)+" was expected", w, g)
}

// short is a value in a message.
func short(s string) string {
	const most = 80
	if rs := []rune(s); len(rs) > most {
		return string(rs[:most]) + "…"
	}
	return s
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "?" // it was decoded, so it can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// sameNumber compares by value: 1 is 1.0, and large integers are exact.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Int).SetString(bounded(a), 10)
	y, okY := new(big.Int).SetString(bounded(b), 10)
	if okX && okY {
		return x.Cmp(y) == 0
	}
	f, errA := a.Float64()
	g, errB := b.Float64()
	return errA == nil && errB == nil && f == g
}

// bounded is the number's text, or what no integer is: reading a million digits
// takes its time.
func bounded(n json.Number) string {
	if len(n) > 1000 {
		return ""
	}
	return string(n)
}

// failed compares how a call has failed.
func (c *comparer) failed(e *toolset.ToolError) {
	want := c.t.Expect.Error
	switch {
	case want == "":
		c.add("error", "it failed: "+e.Message)
		c.res.Traceback = e.Traceback
	case !strings.Contains(e.Message, want):
		c.add("error", "it failed in another way", want, e.Message)
		c.res.Traceback = e.Traceback
	}
}

// workspace compares the files afterwards.
func (c *comparer) workspace(root *os.Root) {
	for _, name := range slices.Sorted(maps.Keys(c.t.Expect.Files)) {
		want := c.t.Expect.Files[name]
		got, err := readFile(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.add("file "+name, "it isn't there")
		case err != nil:
			c.add("file "+name, "it can't be read: "+err.Error())
		case got != want:
			c.add("file "+name, "it has another text", want, got)
		}
	}
	for _, name := range c.t.Expect.Absent {
		if _, err := root.Lstat(name); err == nil {
			c.add("file "+name, "it is there, and should not be")
		} else if !errors.Is(err, fs.ErrNotExist) {
			c.add("file "+name, "whether it is there can't be told: "+err.Error())
		}
	}
}

// readFile reads a regular file beneath the root, up to the bound. What a tool
// has put there may be anything, so it is looked at before it is opened.
func readFile(root *os.Root, name string) (text string, err error) {
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("it is no regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err := io.ReadAll(io.LimitReader(f, MaxCompared+1))
	return string(raw), err
}
