package chat

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A document that is too large is refused before it is all read.
func TestADocumentThatIsTooLarge(t *testing.T) {
	t.Parallel()
	s := &documentSource{r: strings.NewReader(strings.Repeat(" ", 1000)), line: 1, limit: 100}
	n, err := io.Copy(io.Discard, io.LimitReader(s, 2000))
	if !errors.Is(err, errDocumentSize) || n > 1000 {
		t.Errorf("read %d, %v", n, err)
	}
}
