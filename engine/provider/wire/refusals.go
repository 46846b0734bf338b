package wire

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
)

// maxRefused bounds how many refused tools are remembered.
const maxRefused = 1000

// Refusals remembers the tools that an address refused, so that one whose
// schema is too much for it costs a request once. One of the same name with
// another schema is another tool. The zero value is empty; it is safe for
// concurrent use.
type Refusals struct {
	mu  sync.Mutex
	why map[string]string // by toolKey
}

func toolKey(t provider.ToolSpec) string { return t.Name + "\x00" + string(t.InputSchema) }

// Of gives those tools of a request that were refused before, with the reason.
func (r *Refusals) Of(req *provider.Request) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out map[string]string
	for _, t := range req.Tools {
		if why := r.why[toolKey(t)]; why != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[t.Name] = why
		}
	}
	return out
}

// Add remembers refused tools of a request, by their names.
func (r *Refusals) Add(req *provider.Request, refused map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why == nil {
		r.why = map[string]string{}
	}
	for _, t := range req.Tools {
		if why := refused[t.Name]; why != "" && len(r.why) < maxRefused {
			r.why[toolKey(t)] = why
		}
	}
}

// RefusedTool adds to refused the tool that a refusal points at, by its place
// among those sent, as in "tools.3.custom.input_schema: …", or by the name that
// was sent, as in "Invalid schema for function 'look': …". sent are the tools'
// own names in their order, and names how they were sent. It gives nil where
// the refusal points at none.
func RefusedTool(message string, sent []string, names *provider.Names, refused map[string]string) map[string]string {
	name, why := "", ""
	if m := regexp.MustCompile(`\btools(?:\.(\d+)\.|\[(\d+)\])`).FindStringSubmatch(message); m != nil {
		if i, err := strconv.Atoi(m[1] + m[2]); err == nil && i < len(sent) {
			name = sent[i]
			_, why, _ = strings.Cut(message, m[0])
		}
	}
	if m := regexp.MustCompile(`\bfor function ['"]([^'"]+)['"]:?`).FindStringSubmatch(message); m != nil && name == "" {
		if tool := names.Tool(m[1]); slices.Contains(sent, tool) {
			name = tool
			_, why, _ = strings.Cut(message, m[0])
		}
	}
	if name == "" || refused[name] != "" {
		return nil
	}
	out := maps.Clone(refused)
	if out == nil {
		out = map[string]string{}
	}
	if out[name] = Clean(why); out[name] == "" {
		out[name] = "the provider refuses it"
	}
	return out
}
