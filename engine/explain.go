package engine

import (
	"errors"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// explain turns what a provider answered into what a person reads.
func (t *turn) explain(err error) error {
	return Explain(t.model.ref, err)
}

// Explain makes a Fault of an error of a provider; ref is the model that was
// asked. Faults and other errors are returned unchanged.
func Explain(ref string, err error) error {
	var f *fault.Fault
	var pe *provider.Error
	if errors.As(err, &f) || !errors.As(err, &pe) {
		return err
	}
	out := faultOf(ref, pe)
	out.Err = err
	return out
}

func faultOf(ref string, e *provider.Error) *fault.Fault {
	prov, model, _ := strings.Cut(ref, "/")
	said := e.Error()
	switch e.Kind {
	case provider.Unreachable:
		return unreachable(prov, e)
	case provider.Unauthorised:
		return fault.New(fault.Unauthorised, said, keyHint(prov))
	case provider.UnknownModel:
		f := fault.New(fault.Unavailable, prov+" has no model "+model)
		if e.Message != "" {
			f.Detail = []string{e.Message}
		}
		if prov == "ollama" {
			f.Hints = append(f.Hints, "ollama pull "+model)
		}
		f.Hints = append(f.Hints, "fettle ask -m "+prov+"/MODEL …   with a model it has")
		return f
	case provider.RateLimited, provider.Overloaded:
		wait := "a while"
		if e.RetryAfter > time.Minute { // less was waited for
			wait = "for " + strings.TrimSuffix(e.RetryAfter.Round(time.Minute).String(), "0s") + ", as it asks"
		}
		return fault.New(fault.Overloaded, said, "wait "+wait+", or ask another model with -m; the setting fallback does so by itself")
	case provider.SlowStart:
		return fault.New(fault.Unavailable, said, "FETTLE_LIMITS_FIRST_BYTE=30m FETTLE_LIMITS_BETWEEN_CHUNKS=10m fettle ask …   waits longer")
	case provider.ContextFull:
		return fault.New(fault.Context, ref+": the conversation doesn't fit the model's context: "+said,
			"send less, begin a new chat, or use a model with a longer context")
	case provider.Broken:
		return fault.New(fault.InvalidReply, said, "fettle ask -c \"go on\"   goes on from what came")
	case provider.Undecodable:
		return fault.New(fault.InvalidReply, said, "check that the address speaks "+prov+"'s protocol")
	case provider.Unsupported:
		return fault.New(fault.Failed, ref+" takes no "+string(e.Feature)+": "+said)
	}
	return fault.New(fault.Failed, said)
}

func unreachable(prov string, e *provider.Error) *fault.Fault {
	f := fault.New(fault.Unavailable, prov+" at "+e.Address+" can't be reached")
	if e.Address == "" {
		f.Msg = e.Error()
	}
	if e.Message != "" {
		f.Detail = []string{e.Message}
	}
	if prov == "ollama" {
		f.Hints = []string{"ollama serve", "fettle demo            a recorded model, nothing to set up"}
	} else {
		f.Hints = []string{"check the address in the configuration, and the network"}
	}
	return f
}

func keyHint(prov string) string {
	switch prov {
	case "openai":
		return "export OPENAI_API_KEY=…   with a key that works"
	case "ollama":
		return "ask whoever runs the address in OLLAMA_HOST for a key"
	}
	return "set the variable that providers." + prov + ".key_env names, to a key that works"
}
