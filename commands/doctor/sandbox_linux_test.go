package doctor

import (
	"errors"
	"strings"
	"testing"
)

func TestNamespaceHint(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ text, hint string }{
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": {"1\n", "apparmor_restrict_unprivileged_userns=0"},
		"/proc/sys/user/max_user_namespaces":                     {"0\n", "max_user_namespaces=15000"},
		"/proc/sys/kernel/unprivileged_userns_clone":             {"0\n", "unprivileged_userns_clone=1"},
		"": {"", "container"},
	} {
		hint := namespaceHint(func(name string) ([]byte, error) {
			if name == path {
				return []byte(c.text), nil
			}
			return nil, errors.New("no such file")
		})
		if !strings.Contains(hint, c.hint) {
			t.Errorf("%s = %q: %s", path, c.text, hint)
		}
	}
}
