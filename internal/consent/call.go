package consent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/units"
)

const (
	// shortText is the longest argument, in bytes, that a summary shows next to the
	// main one.
	shortText = 80
	// maxListed is how many other arguments a summary lists.
	maxListed = 12
	// shortName is the longest name of an argument in a summary, in bytes.
	shortName = 64
)

// mainNames are the arguments that by themselves describe what a call does, the most
// important first.
func mainNames() []string {
	return []string{"command", "query", "pattern", "path", "url", "filename", "video"}
}

// Argument is one argument of a call, fit to be shown.
type Argument struct {
	Name  string `json:"name"`
	Text  string `json:"text"` // the whole value: a text as it is, anything else as JSON
	Size  string `json:"size"` // of the value as it was sent: "3.4 KB, 120 lines"
	bytes int
	name  string
	plain bool // Text is the value, so that nothing in it was hidden
}

// Call is the arguments of a call in the order in which they were sent. A name that was
// sent twice occurs twice.
type Call struct {
	Arguments []Argument
	// Doubtful is set where tools may read other arguments than those that a user
	// notices: the input is not an object, or a name occurs twice if case is ignored.
	Doubtful bool
}

// Read splits the arguments of a call. An input that is not a JSON object becomes one
// argument without a name.
func Read(input json.RawMessage) Call {
	input = bytes.TrimSpace(input)
	if len(input) == 0 {
		return Call{}
	}
	args, ok := fields(input)
	if !ok {
		return Call{Arguments: []Argument{newArgument("", string(input))}, Doubtful: true}
	}
	c := Call{Arguments: args}
	seen := map[string]bool{}
	for _, a := range args {
		folded := strings.ToLower(a.name)
		c.Doubtful = c.Doubtful || seen[folded]
		seen[folded] = true
	}
	return c
}

// fields reads the top level of an object, with the names that occur twice.
func fields(input []byte) ([]Argument, bool) {
	if !json.Valid(input) || input[0] != '{' {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	args := []Argument{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, false
		}
		text, isText := name.(string)
		if !isText {
			return nil, false
		}
		value := ""
		if json.Unmarshal(raw, &value) != nil || raw[0] != '"' {
			value = readable(raw)
		}
		args = append(args, newArgument(text, value))
	}
	return args, true
}

func newArgument(name, value string) Argument {
	a := Argument{Name: Line(name), Text: Text(value), Size: units.Size(int64(len(value))), bytes: len(value), name: name}
	if lines := strings.Count(strings.TrimSuffix(value, "\n"), "\n") + 1; lines > 1 {
		a.Size += ", " + units.Count(lines, "line", "lines")
	}
	a.plain = a.Text == strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(value)
	return a
}

// Plain reports whether a call has no other arguments than these, and a front end that
// shows them as they are, such as in a diff, hides nothing.
func (c Call) Plain(names ...string) bool {
	return !c.Doubtful && !slices.ContainsFunc(c.Arguments, func(a Argument) bool {
		return !a.plain || !slices.Contains(names, a.name)
	})
}

// readable returns JSON with the escapes of printable characters resolved, so that a
// word can't be hidden as \u0072\u006d.
func readable(raw []byte) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			b.WriteByte(raw[i])
			continue
		}
		if raw[i+1] != 'u' || i+6 > len(raw) {
			b.Write(raw[i : i+2])
			i++
			continue
		}
		end := i + 6
		if end+6 <= len(raw) && raw[end] == '\\' && raw[end+1] == 'u' && surrogate(raw[i:end]) {
			end += 6
		}
		var s string
		if json.Unmarshal([]byte(`"`+string(raw[i:end])+`"`), &s) != nil || s == `"` || s == `\` || s < " " {
			s = string(raw[i:end])
		}
		b.WriteString(s)
		i = end - 1
	}
	return b.String()
}

// surrogate reports whether an escape is the first half of a character.
func surrogate(escape []byte) bool {
	return (escape[2] == 'd' || escape[2] == 'D') && strings.IndexByte("89abAB", escape[3]) >= 0
}

// Summary is the short form of a call.
type Summary struct {
	// Main is the argument that says what the call does; "" where none does.
	Main string
	// Others are the other arguments, each on one line: "cwd: src", or for one that is
	// not shown its size, "content: 3.4 KB, 120 lines".
	Others []string
	// Cut reports that the summary leaves out what decides: a part of Main, the only
	// argument, or arguments whose names are there twice.
	Cut bool
}

// Summary returns the short form of a call, with at most so many bytes of its main
// argument.
func (c Call) Summary(most int) Summary {
	s := Summary{Cut: c.Doubtful}
	at := c.main()
	if at >= 0 {
		var missing int
		s.Main, missing = Head(c.Arguments[at].Text, most)
		if missing > 0 {
			s.Main += " … [" + units.Size(int64(missing)) + " more]"
			s.Cut = true
		}
	}
	listed, bytes := 0, 0
	for i, a := range c.Arguments {
		if i == at {
			continue
		}
		if listed++; listed > maxListed {
			bytes += a.bytes
			continue
		}
		s.add(a, at < 0)
	}
	if more := listed - maxListed; more > 0 {
		s.Others = append(s.Others, "… and "+units.Count(more, "argument", "arguments")+" more, "+units.Size(int64(bytes)))
		s.Cut = true
	}
	return s
}

// add lists an argument. Where the call has no main argument, one that is not shown may
// be what decides.
func (s *Summary) add(a Argument, decides bool) {
	name, missing := Head(a.Name, shortName)
	if missing > 0 {
		name += "…"
		s.Cut = true
	}
	text := Line(a.Text)
	if len(text) > shortText {
		text = a.Size
		s.Cut = s.Cut || decides
	}
	s.Others = append(s.Others, name+": "+text)
}

// main returns the index of the main argument: the one of mainNames, else the only one;
// -1 for none. Of those that are there twice it is the last, which is what most programs
// read.
func (c Call) main() int {
	for _, name := range mainNames() {
		for i, a := range slices.Backward(c.Arguments) {
			if a.name == name && strings.TrimSpace(a.Text) != "" {
				return i
			}
		}
	}
	if len(c.Arguments) == 1 {
		return 0
	}
	return -1
}

// Details returns all arguments with all of their text, each under its name.
func (c Call) Details() string {
	var b strings.Builder
	for _, a := range c.Arguments {
		switch {
		case a.Name != "" && !strings.Contains(a.Text, "\n"):
			b.WriteString(a.Name + ": " + a.Text + "\n")
			continue
		case a.Name != "":
			b.WriteString(a.Name + ":\n")
		}
		for line := range strings.Lines(a.Text) {
			b.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// Head returns the first bytes of a text, at most so many and whole characters, and how
// many bytes it leaves out.
func Head(s string, most int) (head string, missing int) {
	if len(s) <= most {
		return s, 0
	}
	head = strings.TrimSuffix(sanitize.Cut(s, max(most, 0)), "…")
	return head, len(s) - len(head)
}
