package cas

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A large blob that is found in the store is only relied on once its folder has been
// synced, since its maker may have been killed before that. A call that adds no blob
// syncs nothing.
func TestABlobThatIsFoundIsMadeDurable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	large := strings.Repeat("large", smallBlob/4)
	b.write("large", large)
	var synced []string
	killed := errors.New("killed")
	b.s.fault = func(call, name string) error {
		if call == "syncnames" {
			return killed // the blob has its name, and nothing has synced that
		}
		return nil
	}
	if _, err := b.s.Snapshot(t.Context(), b.ws, SnapshotOptions{About: About{ChatID: "c", Source: ToolRun}}); !errors.Is(err, killed) {
		t.Fatalf("the snapshot was not cut short: %v", err)
	}
	if !b.s.hasFile(Sum([]byte(large)), int64(len(large))) {
		t.Fatal("the blob is not there")
	}
	b.s.fault = func(call, name string) error {
		if call == "syncnames" {
			synced = append(synced, name)
		}
		return nil
	}
	b.write("again", large)
	b.snap()
	shard := filepath.Dir(b.s.blobPath(Sum([]byte(large))))
	count := 0
	for _, dir := range synced {
		if dir == shard {
			count++
		}
	}
	if count != 1 {
		t.Errorf("the folder of the blob that was found was synced %d times, among %q", count, synced)
	}
	synced = nil
	b.snap()
	b.write("small", "small")
	b.snap()
	if len(synced) > 0 {
		t.Errorf("snapshots that add no large blob have synced %q", synced)
	}
}
