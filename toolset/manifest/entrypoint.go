package manifest

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/internal/pystdlib"
)

// Entrypoint is where a function of a bundle is: the `module:function` of a
// tool or a parser.
type Entrypoint struct {
	Module   string
	Function string
}

// ParseEntrypoint reads `module:function`. Neither the module's parts nor the
// function may begin with an underscore, and a module that isn't below tools
// may not begin with the name of one of Python's own.
func ParseEntrypoint(s string) (Entrypoint, error) {
	if !compiled().match(patternEntry, s) || len(s) > 200 {
		return Entrypoint{}, fmt.Errorf("read entrypoint %s: expected module:function, such as tools.analyze:run", show(s))
	}
	module, function, _ := strings.Cut(s, ":")
	e := Entrypoint{Module: module, Function: function}
	first, _, _ := strings.Cut(module, ".")
	if first != "tools" && pystdlib.Standard(first) {
		return Entrypoint{}, fmt.Errorf("read entrypoint %s: %s is a module of Python's own; write tools.%s for one of the toolset's", show(s), first, s)
	}
	return e, nil
}

// String is the form that is parsed.
func (e Entrypoint) String() string { return e.Module + ":" + e.Function }

// Files are the paths in a bundle where the module may be, the likeliest
// first. The first that is there is meant.
func (e Entrypoint) Files() []string {
	path := strings.ReplaceAll(e.Module, ".", "/")
	var out []string
	if rest, ok := strings.CutPrefix(path, "tools/"); ok {
		out = append(out, "tools/"+rest+".py", "tools/"+rest+"/__init__.py")
	}
	return append(out, "tools/"+path+".py", "tools/"+path+"/__init__.py")
}
