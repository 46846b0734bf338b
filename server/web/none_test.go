//go:build no_web

package web

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// A build without the page says so, in words.
func TestABuildWithoutThePage(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil || p.Built() || p.Has("index.html") {
		t.Fatalf("there is a page: %v", err)
	}
	w := httptest.NewRecorder()
	p.ServeIndex(w, httptest.NewRequest("GET", "http://127.0.0.1:1/", nil), nil)
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || !strings.Contains(w.Body.String(), "no page") || !strings.Contains(w.Body.String(), "no_web") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}
