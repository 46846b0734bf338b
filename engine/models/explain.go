package models

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Explain makes a Fault of an error of a provider; ref is the model that was
// asked, or the provider's name and a slash where it was asked for something
// else, such as its list. Faults and other errors are returned unchanged.
func Explain(ref string, err error) error {
	var f *fault.Fault
	var pe *provider.Error
	if errors.As(err, &f) || !errors.As(err, &pe) {
		return err
	}
	out := faultOf(ref, pe)
	out.Err, out.Status, out.RetryAfter = err, status(pe), pe.RetryAfter
	return out
}

// status returns the HTTP status that a failure has for clients of this program: one
// that they don't retry if the same request fails again. 429 is only for limits of a
// provider; a failure of the provider itself is 502, 503 or 504. 0 is the status of the
// fault's code.
func status(e *provider.Error) int {
	switch e.Kind {
	case provider.Overloaded:
		switch e.Status {
		case http.StatusRequestTimeout, http.StatusGatewayTimeout:
			return http.StatusGatewayTimeout
		case 0, http.StatusOK, http.StatusServiceUnavailable, statusOverloaded:
			return http.StatusServiceUnavailable
		}
		return http.StatusBadGateway
	case provider.SlowStart:
		return http.StatusGatewayTimeout
	case provider.Unauthorised:
		return http.StatusUnauthorized
	case provider.UnknownModel:
		return http.StatusNotFound
	case provider.Undecodable:
		return http.StatusFailedDependency
	case provider.Unsupported, provider.ContextFull:
		return http.StatusBadRequest
	case provider.Rejected:
		switch e.Status {
		case http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			return e.Status
		case http.StatusTooManyRequests:
			return http.StatusPaymentRequired // a quota, which no wait restores
		}
		return http.StatusBadRequest
	}
	return 0
}

// statusOverloaded is the status of Anthropic's API for a server that has too many requests.
const statusOverloaded = 529

func faultOf(ref string, e *provider.Error) *fault.Fault {
	prov, model, _ := strings.Cut(ref, "/")
	said := e.Error()
	switch e.Kind {
	case provider.Unreachable:
		return unreachable(prov, e)
	case provider.Unauthorised:
		return fault.New(fault.Unauthorised, said, keyRemedies(prov)...)
	case provider.UnknownModel:
		return unknownModel(prov, model, e)
	case provider.RateLimited, provider.Overloaded:
		wait := "a while"
		if e.RetryAfter > time.Minute { // less was waited for
			wait = "for " + strings.TrimSuffix(e.RetryAfter.Round(time.Minute).String(), "0s") + ", as it asks"
		}
		return fault.New(fault.Overloaded, said, fault.Try(fault.Wait, wait))
	case provider.SlowStart:
		return fault.New(fault.Unavailable, said, fault.Try(fault.WaitLonger).That("waits longer"))
	case provider.ContextFull:
		return fault.New(fault.Context, ref+": the conversation doesn't fit the model's context: "+said,
			fault.Advise("send less, begin a new chat, or use a model with a longer context"))
	case provider.Broken:
		return fault.New(fault.InvalidReply, said, fault.Try(fault.Continue).That("goes on from what came"))
	case provider.Undecodable:
		return fault.New(fault.InvalidReply, said, fault.Advise("check that the address speaks "+prov+"'s protocol"))
	case provider.Unsupported:
		return fault.New(fault.Failed, ref+" takes no "+string(e.Feature)+": "+said)
	}
	if e.Status == http.StatusRequestEntityTooLarge {
		return fault.New(fault.Failed, said,
			fault.Advise("send less, or raise the limit on the size of requests at the proxy before "+e.Address+" (nginx: client_max_body_size)"))
	}
	return fault.New(fault.Failed, said)
}

// unknownModel also stands for an address that has nothing where the protocol
// says that its list of models is.
func unknownModel(prov, model string, e *provider.Error) *fault.Fault {
	if model == "" {
		return fault.New(fault.Unavailable, e.Error(), fault.Try(fault.UnlistedModel, prov))
	}
	f := fault.New(fault.Unavailable, prov+" has no model "+model)
	if e.Message != "" {
		f.Detail = []string{e.Message}
	}
	switch prov {
	case "ollama":
		f.Remedies = append(f.Remedies, fault.Try(fault.PullModel, model))
	case "script":
		f.Remedies = []fault.Remedy{fault.Try(fault.AskModel, "script/"+model).That("uses the file for one question")}
		return f
	}
	f.Remedies = append(f.Remedies, fault.Try(fault.ListModels, prov).That("what it has"))
	return f
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
		f.Remedies = []fault.Remedy{fault.Try(fault.StartOllama), fault.Try(fault.RunDemo)}
	} else {
		f.Remedies = []fault.Remedy{fault.Advise("check the address in the configuration, and the network")}
	}
	return f
}

// keyRemedies tell what to do about a key that was refused. Where it came from is
// not known here, and is what a person has to look at.
func keyRemedies(prov string) []fault.Remedy {
	which := fault.Try(fault.ListKeys).That("tells which key was used")
	switch prov {
	case "openai", "anthropic", "mistral":
		return []fault.Remedy{fault.Try(fault.SetVariable, strings.ToUpper(prov)+"_API_KEY").That("with a key that works"), which}
	case "ollama":
		return []fault.Remedy{fault.Try(fault.StoreKey, prov).That("keeps a key that whoever runs the address gave you")}
	}
	return []fault.Remedy{which, fault.Try(fault.StoreKey, prov).That("keeps another one")}
}
