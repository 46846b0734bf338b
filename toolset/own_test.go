package toolset

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A folder that is, contains or is inside of fettle's own configuration or sockets
// cannot be a workspace, regardless of the links that lead there.
func TestOwnStateIsNoWorkspace(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, dir := range []string{"config/fettle/sub", "dots/real", "project"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	own := OwnState{filepath.Join(base, "config", "fettle"), filepath.Join(base, "run", "fettle"), ""}
	refused := []string{"config", "config/fettle", "config/fettle/sub"}
	if err := os.Symlink(filepath.Join(base, "config", "fettle"), filepath.Join(base, "link")); err == nil {
		refused = append(refused, "link", "link/sub")
	}
	for _, dir := range refused {
		var want *RefusedError
		if err := CheckBound(filepath.Join(base, dir), Places{Home: base, Own: own}); !errors.As(err, &want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := CheckBound(filepath.Join(base, "project"), Places{Home: base, Own: own}); err != nil {
		t.Error(err)
	}
	// A link inside of the folder that leads to it out of the folder counts, too.
	if err := os.Symlink(filepath.Join(base, "config", "fettle"), filepath.Join(base, "dots", "real", "fettle")); err == nil {
		linked := OwnState{filepath.Join(base, "dots", "real", "fettle")}
		if CheckBound(filepath.Join(base, "dots"), Places{Home: base, Own: linked}) == nil {
			t.Error("a folder with a link to it was accepted")
		}
	}
}
