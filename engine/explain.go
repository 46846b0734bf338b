package engine

import (
	"errors"
	"strings"

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
		return fault.New(fault.Unauthorised, said, "check the key: "+keyHint(prov))
	case provider.UnknownModel:
		f := fault.New(fault.Unavailable, prov+" has no model "+model)
		if e.Message != "" {
			f.Detail = []string{e.Message}
		}
		if prov == "ollama" {
			f.Hints = append(f.Hints, "ollama pull "+model)
		}
		f.Hints = append(f.Hints, "fettle ask -m "+prov+"/MODEL … with a model it has")
		return f
	case provider.RateLimited, provider.Overloaded:
		return fault.New(fault.Overloaded, said, "try again later, or name a fallback model in the configuration")
	case provider.SlowStart:
		return fault.New(fault.Unavailable, said, "raise limits.first_byte or limits.between_chunks in the configuration")
	case provider.ContextFull:
		return fault.New(fault.Context, ref+": the conversation doesn't fit the model's context: "+said,
			"send less, begin a new chat, or use a model with a longer context")
	case provider.Broken:
		return fault.New(fault.InvalidReply, said, "ask again: fettle ask -c \"go on\"")
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
		return "export OPENAI_API_KEY=…"
	case "ollama":
		return "the address behind OLLAMA_HOST wants one"
	}
	return "providers." + prov + ".key_env in the configuration"
}
