package mounts

import (
	"os"
	"runtime"
	"slices"
	"testing"
)

func TestBelowListsTheMountsOfAFolder(t *testing.T) {
	t.Parallel()
	table := []byte(`21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 0:5 / /proc rw - proc proc rw
30 21 0:40 / /home/me/a\040project/data rw,noatime shared:1 - tmpfs tmpfs rw,size=1m
31 21 0:41 / /home/me/a\040project\134x rw - tmpfs tmpfs ro,size=1m
32 30 0:42 / /home/me/a\040project/data/in ro,nosuid master:1 - tmpfs tmpfs rw
torn
`)
	data, in := Mount{30, "/home/me/a project/data", false}, Mount{32, "/home/me/a project/data/in", true}
	for dir, want := range map[string][]Mount{
		"/home/me/a project":      {data, in},
		"/home/me/a project/":     {data, in},
		"/home/me/a project/data": {in},
		`/home/me/a project\x`:    nil,
		"/home/me/a":              nil,
	} {
		if got := below(table, dir); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", dir, got, want)
		}
	}
}

func TestOfReturnsTheMountOfAFile(t *testing.T) {
	t.Parallel()
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	id, ok := Of(int(f.Fd()))
	if runtime.GOOS != "linux" {
		if ok {
			t.Errorf("mount %d where there is no list", id)
		}
		return
	}
	at := func(m Mount) bool { return m.ID == id }
	if !ok || id == 0 || !slices.ContainsFunc(Below("/"), at) && !rootMount(t, id) {
		t.Errorf("mount %d, %t is not in the list", id, ok)
	}
	if id, ok := Of(-1); ok {
		t.Errorf("no file is in mount %d", id)
	}
}

// rootMount reports whether a mount is the one of "/", which is not below any folder.
func rootMount(t *testing.T, id int) bool {
	t.Helper()
	root, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	is, ok := Of(int(root.Fd()))
	return ok && is == id
}
