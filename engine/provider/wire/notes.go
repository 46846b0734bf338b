package wire

import (
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Keep returns the request with no other parameters than those that are named, and the
// footnote about those that were left out: one note, or none. See [provider.Request.Keep].
func Keep(req *provider.Request, takes []string) (*provider.Request, []provider.Note) {
	kept, left := req.Keep(takes...)
	if len(left) == 0 {
		return kept, nil
	}
	return kept, []provider.Note{LeftOut(req.Model, left...)}
}

// LeftOut returns the footnote about parameters that a model does not take.
func LeftOut(model string, params ...string) provider.Note {
	what, them := "the parameter ", "it"
	if len(params) > 1 {
		what, them = "the parameters ", "them"
	}
	return provider.Note{Text: "left out " + what + strings.Join(params, ", ") + ": " + model + " does not take " + them, Params: params}
}

// Notef returns a footnote about parameters, or about something else if none are named.
func Notef(text string, params ...string) provider.Note {
	return provider.Note{Text: text, Params: params}
}

// EffortNote appends the footnote that a model got another level than the one that was asked
// for, if it did.
func EffortNote(dst []provider.Note, asked, got provider.Effort, model string) []provider.Note {
	if text := provider.EffortNote(asked, got, model); text != "" {
		dst = append(dst, Notef(text, provider.EffortParam))
	}
	return dst
}

// Footnotes appends the notes as deltas.
func Footnotes(dst []provider.Delta, notes []provider.Note) []provider.Delta {
	for _, n := range notes {
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: n.Text, Params: n.Params})
	}
	return dst
}

// Announce splits off the notes about parameters: the function that it returns passes them on
// ahead of the first batch, so that they are known before the answer begins. rest are the
// other notes, which belong at the end of the response.
func Announce(notes []provider.Note, pass func([]provider.Delta) bool) (rest []provider.Note, announced func([]provider.Delta) bool) {
	first := AboutParams(notes)
	if len(first) == 0 {
		return notes, pass
	}
	for _, n := range notes {
		if len(n.Params) == 0 {
			rest = append(rest, n)
		}
	}
	return rest, func(batch []provider.Delta) bool {
		if len(first) > 0 {
			batch = append(Footnotes(nil, first), batch...)
			first = nil
		}
		return pass(batch)
	}
}

// AboutParams returns the notes that are about parameters.
func AboutParams(notes []provider.Note) []provider.Note {
	var out []provider.Note
	for _, n := range notes {
		if len(n.Params) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// Bare returns the request with a short text in place of the content of each message: what
// is left decides which parameters a provider takes. The names of participants stay.
func Bare(req *provider.Request) *provider.Request {
	out := *req
	out.Messages = nil
	for _, m := range req.Messages {
		if m.Role == provider.User {
			out.Messages = append(out.Messages, provider.Message{Role: m.Role, Parts: []provider.Part{{
				Kind: provider.TextPart, Text: ".", Name: m.Speaker(),
			}}})
		}
	}
	return &out
}

// RefusedParam returns the first of the sent parameters that a refusal names, by its name on
// the wire; "" if it names none. Names that are ordinary words have to be quoted.
func RefusedParam(message string, sent []string, onWire func(param string) string) string {
	text := strings.ToLower(message)
	for _, param := range sent {
		name := onWire(param)
		if strings.Contains(name, "_") || param == provider.SeedParam || param == provider.StopParam || param == provider.VerbosityParam {
			if strings.Contains(text, name) {
				return param
			}
			continue
		}
		for _, quote := range []string{"'", `"`, "`"} {
			if strings.Contains(text, quote+name+quote) {
				return param
			}
		}
	}
	return ""
}

// Except returns the names without those of others.
func Except(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
}
