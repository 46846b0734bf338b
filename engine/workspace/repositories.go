package workspace

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/toolset/gitguard"
)

// AsideNote returns a note that names the first few of the moved repositories.
func AsideNote(moved []gitguard.Moved) string {
	const shown = 5
	var added, restored, lost []string
	for _, m := range moved {
		path := cas.EscapePath(m.Path)
		switch {
		case m.Lost:
			lost = append(lost, path)
		case m.Restored && m.To == "":
			restored = append(restored, path)
		case m.Restored:
			restored = append(restored, path+" (the changed one is "+cas.EscapePath(m.To)+")")
		default:
			added = append(added, path+" is "+cas.EscapePath(m.To)+" now")
		}
	}
	some := func(list []string) string {
		if len(list) > shown {
			return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], ", "), len(list)-shown)
		}
		return strings.Join(list, ", ")
	}
	var out []string
	if len(added) > 0 {
		out = append(out, "git runs programs that a repository names, so what the call added was given another name: "+some(added))
	}
	if len(restored) > 0 {
		out = append(out, "git runs programs that these files name, so they were restored after the call: "+some(restored))
	}
	if len(lost) > 0 {
		out = append(out, "the call removed these repositories, which undo does not restore, since the sandbox protects them at level full alone: "+some(lost))
	}
	return strings.Join(out, "; ")
}
