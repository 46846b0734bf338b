package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fettle-cli/fettle/engine/fault"
)

// A file that is too large is called so, also where its length was not known before;
// one whose client went away came only in part.
func TestWhyAFileDidNotCome(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body   io.Reader
		status int
	}{
		"too large": {http.MaxBytesReader(httptest.NewRecorder(), io.NopCloser(strings.NewReader("12345")), 4), http.StatusRequestEntityTooLarge},
		"cut off":   {iotest.ErrReader(errors.New("reset")), http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := io.ReadAll(mustComplete{tt.body})
			if status, body := explain(fault.Wrap(fault.Failed, "take in a.txt", err)); status != tt.status {
				t.Errorf("status %d, %+v", status, body)
			}
		})
	}
}
