package wire

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Names maps the names of a request's tools and of its history's calls.
func Names(req *provider.Request) *provider.Names {
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if part.Call != nil {
				names = append(names, part.Call.Name)
			}
		}
	}
	return provider.NewNames(names...)
}

// MustCall gives the tool that a response has to call, among those that go along:
// its name, or [provider.AnyTool]. ok is false where none has to be called.
func MustCall(req *provider.Request, offered []string) (name string, ok bool) {
	switch {
	case req.MustCall == "" || len(offered) == 0:
		return "", false
	case req.MustCall == provider.AnyTool || slices.Contains(offered, req.MustCall):
		return req.MustCall, true
	}
	return "", false
}

// ToolChoice is tool_choice as chat completions take it, for a request whose response
// has to call a tool: word where any will do, else the one that names names. It is nil
// where none has to be called.
func ToolChoice(req *provider.Request, offered []string, names *provider.Names, word string) any {
	name, ok := MustCall(req, offered)
	switch {
	case !ok:
		return nil
	case name == provider.AnyTool:
		return word
	}
	type function struct {
		Name string `json:"name"`
	}
	return struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{names.Wire(name)}}
}

// LeftToModel is the footnote of a request whose MustCall could not be passed on.
func LeftToModel(why string) provider.Note {
	return Notef("tool_choice was taken as auto: "+why, provider.ToolChoiceParam)
}

// Asked lists the features that a request uses, for Source.Asked.
func Asked(req *provider.Request) []provider.Feature {
	var f []provider.Feature
	if req.Schema != nil {
		f = append(f, provider.FeatureSchema)
	}
	if len(req.Tools) > 0 {
		f = append(f, provider.FeatureTools)
	}
	if HasImages(req) {
		f = append(f, provider.FeatureImages)
	}
	if req.Think != nil {
		f = append(f, provider.FeatureThinking)
	}
	return f
}

// HasImages tells whether a message of the request has an image.
func HasImages(req *provider.Request) bool {
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if part.HasImage() {
				return true
			}
		}
	}
	return false
}

// WithSchema adds to a system message that the answer has to be JSON of a
// schema, for models and moments where a server can't be asked to see to it.
func WithSchema(system string, schema json.RawMessage) string {
	if system != "" {
		system += "\n\n"
	}
	return system + "Answer with JSON alone, without a code fence or any other text, that matches this JSON Schema:\n" + string(schema)
}

// DataURL is an image as chat completions take it. One whose type nobody told
// is looked at.
func DataURL(p provider.Part) string {
	mime := p.MIME
	if mime == "" {
		mime, _, _ = strings.Cut(http.DetectContentType(p.Data), ";")
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
