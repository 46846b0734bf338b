package mistral

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

func TestModels(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
		fmt.Fprint(w, `{"object":"list","data":[
			{"id":"mistral-medium-2604","object":"model","max_context_length":262144,"aliases":["mistral-medium-latest"],"deprecation":null,"type":"base",
			 "capabilities":{"completion_chat":true,"completion_fim":false,"function_calling":true,"vision":true,"reasoning":true,"ocr":false}},
			{"id":"open-mistral-nemo","created":1721000000,"max_context_length":131072,"deprecation":"2026-12-31T12:00:00Z","deprecation_replacement_model":"ministral-8b-latest",
			 "capabilities":{"completion_chat":true,"function_calling":false,"vision":false}},
			{"id":"mistral-embed","max_context_length":8192,"capabilities":{"completion_chat":false}},
			{"id":"ft:mine","capabilities":["chat"],"max_context_length":"32768"},
			{"id":"mistral-medium-2604"},
			{"id":""},
			{"id":"bare"}]}`)
	})
	got, err := p.Models(t.Context())
	want := []provider.Model{
		{Name: "mistral-medium-2604", ContextLength: 262_144, Tools: provider.Yes, Images: provider.Yes, Thinking: provider.Yes},
		{Name: "open-mistral-nemo", ContextLength: 131_072, Tools: provider.No, Images: provider.No, Details: "retires 2026-12-31, then ministral-8b-latest", Created: provider.UnixTime(1721000000)},
		{Name: "ft:mine", ContextLength: 32_768},
		{Name: "bare"},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i := range want {
		want[i].Provider = "mistral"
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	if m, err := p.Model(t.Context(), "mistral-medium-2604"); err != nil || m.ContextLength != 262_144 {
		t.Errorf("a listed model is %+v, %v", m, err)
	}
	if m, err := p.Model(t.Context(), "other"); err != nil || m != (provider.Model{Provider: "mistral", Name: "other"}) {
		t.Errorf("another is %+v, %v", m, err)
	}
}

func TestListsOfOtherForms(t *testing.T) {
	t.Parallel()
	answer := ""
	p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, answer) })
	for list, want := range map[string]int{`[{"id":"a"},{"id":"b"}]`: 2, `{"data":[]}`: 0, `{"data":null}`: 0} {
		answer = list
		models, err := p.Models(t.Context())
		if err != nil || len(models) != want {
			t.Errorf("%s gives %+v, %v", list, models, err)
		}
	}
	var e *provider.Error
	for _, answer = range []string{`<html>`, `{"data":{}}`, `[1]`, ``} {
		if _, err := p.Models(t.Context()); !errors.As(err, &e) || e.Kind != provider.Undecodable {
			t.Errorf("%q gives %v", answer, err)
		}
	}
	bad, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { refuse(w, 401, `{"detail":"Unauthorized"}`) })
	if _, err := bad.Models(t.Context()); !errors.As(err, &e) || e.Kind != provider.Unauthorised || e.Message != "Unauthorized" {
		t.Errorf("a wrong key gives %v", err)
	}
}
