package script

import (
	"encoding/json"
	"io"
	"testing"
	"testing/fstest"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

// lacks are the cases of the suite that a script has nothing of.
func lacks() map[string]string {
	const (
		noWire    = "nothing is sent to a script"
		noLimits  = "a script has no time limits but its own"
		noAddress = "a script has no address; TestEveryKindOfErrorHasAName has the kinds"
	)
	return map[string]string{
		"names come back":           noWire,
		"sends a conversation":      noWire,
		"sends images":              noWire,
		"sends a schema":            noWire,
		"sends options and key":     noWire,
		"sends stop texts":          noWire,
		"asks to wait until a date": noWire,
		"garbage":                   noWire,

		"a tool that has to be called":          noWire,
		"a model that can't be made to call":    noWire,
		"reasoning goes back with its calls":    noWire,
		"roles that follow each other":          noWire,
		"empty messages":                        noWire,
		"a very long result and odd characters": noWire,
		"ids that were used before":             noWire,
		"calls of one id":                       "a script is taken at its word",
		"a call with arguments empty":           "a script has arguments or none",
		"a call with arguments null":            "a script has arguments or none",
		"no first byte":                         noLimits,
		"no next chunk":                         noLimits,
		"a call waits for the end":              noLimits,
		"wrong key":                             noAddress,
		"unknown model":                         noAddress,
		"status 500":                            noAddress,
		"status 503":                            noAddress,
		"context full":                          noAddress,
	}
}

// object is a piece of a script.
type object map[string]any

// scripted puts a play as a response.
func scripted(p providertest.Play) object {
	switch {
	case p.Refuse != nil && p.Refuse.Why == providertest.TooMany:
		return object{"error": object{"kind": "rate_limited", "status": 429, "retry_after": p.Refuse.RetryAfter + "s"}}
	case p.Refuse != nil:
		return object{"error": object{"kind": "unsupported", "feature": "tools"}}
	}
	r := object{}
	var deltas, end []object
	for _, write := range p.Writes {
		var batch []object
		for _, piece := range write {
			switch {
			case piece.Call != nil:
				call := object{"id": piece.Call.ID, "name": piece.Call.Name}
				if piece.Call.Form == providertest.ArgsGiven {
					call["args"] = json.RawMessage(piece.Call.Args)
				}
				end = append(end, object{"tool-call": call})
			case piece.Error != "":
				r["error"] = object{"kind": "broken", "message": piece.Error}
			case piece.Reasoning != "":
				batch = append(batch, object{"reasoning": piece.Reasoning})
			default:
				batch = append(batch, object{"content": piece.Text})
			}
		}
		if len(batch) > 0 {
			deltas = append(deltas, object{"batch": batch})
		}
	}
	switch p.End {
	case providertest.Cut:
		r["cut"] = true
	case providertest.Hang:
		r["hang"] = true
	case providertest.Whole:
		if r["error"] == nil {
			meta := object{"stop_reason": provider.StopEnd}
			if p.Stop != "" {
				meta["stop_reason"] = p.Stop
			}
			if len(end) > 0 {
				meta["stop_reason"] = provider.StopToolUse
			}
			if p.Usage != nil {
				meta["usage"] = p.Usage
			}
			deltas = append(deltas, object{"batch": append(end, object{"meta": meta})})
		}
	}
	if len(deltas) > 0 {
		r["deltas"] = deltas
	}
	return r
}

func TestConformance(t *testing.T) {
	t.Parallel()
	marshal := func(t *testing.T, v any) []byte {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	forms := map[string]func(t *testing.T, r object) []byte{
		"written": func(t *testing.T, r object) []byte { // JSON is YAML, for once
			return marshal(t, object{"responses": []object{r}})
		},
		"recorded": func(t *testing.T, r object) []byte {
			return append([]byte(`{"fettle_script":1}`+"\n"), marshal(t, r)...)
		},
	}
	for form, encode := range forms {
		for name, wrap := range map[string]func(provider.Provider) provider.Provider{
			form:                func(p provider.Provider) provider.Provider { return p },
			form + " and taped": func(p provider.Provider) provider.Provider { return Record(p, io.Discard) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				providertest.Run(t, providertest.Harness{
					Lacks: lacks(),
					Start: func(t *testing.T, _ providertest.Config, plays ...providertest.Play) *providertest.Session {
						if len(plays) != 1 {
							t.Fatalf("a script answers the same request the same way, not in %d ways", len(plays))
						}
						files := fstest.MapFS{"play": {Data: encode(t, scripted(plays[0]))}}
						return &providertest.Session{Provider: wrap(New(Options{FS: files})), Model: ":play"}
					},
				})
			})
		}
	}
}
