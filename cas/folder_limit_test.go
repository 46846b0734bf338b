package cas

import (
	"errors"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/kv"
)

// A folder with more names than a state can have is refused by its path, with both sizes.
func TestAFolderWithTooManyNamesIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	enc := make([]byte, maxTree+1)
	err := b.kv.Batch(t.Context(), func(w *kv.Batch) error {
		return b.s.writeTrees(t.Context(), w, []newTree{{path: "a/many", enc: enc}})
	})
	var big *FolderError
	if !errors.As(err, &big) || big.Path != "a/many" || !strings.Contains(err.Error(), "a/many") || !strings.Contains(err.Error(), "67 MB") {
		t.Errorf("%v", err)
	}
}
