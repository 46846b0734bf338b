package anthropic

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
	return sendsBlock(0, obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": text}) +
		sends("message_delta", obj{"delta": obj{"stop_reason": "end_turn"}}) + sends("message_stop", obj{})
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, errorBody(kind, message))
}
