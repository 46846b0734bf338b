package mounts

import (
	"slices"
	"testing"
)

func TestBelowListsTheMountsOfAFolder(t *testing.T) {
	t.Parallel()
	table := []byte(`21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 0:5 / /proc rw - proc proc rw
30 21 0:40 / /home/me/a\040project/data rw - tmpfs tmpfs rw
31 21 0:41 / /home/me/a\040project\134x rw - tmpfs tmpfs rw
32 30 0:42 / /home/me/a\040project/data/in rw - tmpfs tmpfs rw
torn
`)
	for dir, want := range map[string][]string{
		"/home/me/a project":      {"/home/me/a project/data", "/home/me/a project/data/in"},
		"/home/me/a project/":     {"/home/me/a project/data", "/home/me/a project/data/in"},
		"/home/me/a project/data": {"/home/me/a project/data/in"},
		`/home/me/a project\x`:    nil,
		"/home/me/a":              nil,
	} {
		if got := below(table, dir); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
