package builtin

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// globber makes the test for a glob that a model gave: one without a slash is
// held against the last component, at any depth; one with a slash against the
// whole path from where the walk begins. `**` stands for any folders. No glob
// lets everything pass.
func globber(glob string) (func(rel string) bool, error) {
	if glob == "" {
		return func(string) bool { return true }, nil
	}
	pattern := strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
	if err := toolset.CheckGlob(pattern); err != nil {
		return nil, toolset.Errorf("glob %s is not valid: %w", wspath.Show(clip(glob, maxShownLine)), err)
	}
	whole := strings.Contains(pattern, "/")
	return func(rel string) bool {
		if !whole {
			rel = path.Base(rel)
		}
		ok, err := doublestar.Match(pattern, rel)
		return ok && err == nil
	}, nil
}
