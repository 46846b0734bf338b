package mistral

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

// serve plays an address; it answers by the handler and notes the bodies.
func serve(t *testing.T, o Options, handle func(w http.ResponseWriter, body string)) (*Provider, func() []string) {
	t.Helper()
	var bodies func() []string
	o.BaseURL, o.Client, bodies = providertest.Serve(t, handle)
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p, bodies
}

// says is a whole stream of a text.
func says(text string) string {
	return sendsDelta(obj{"content": text}, "") + sendsDelta(obj{"content": ""}, "stop") + "data: [DONE]\n\n"
}

func refuse(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}
