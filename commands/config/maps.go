package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"go.yaml.in/yaml/v4"
)

// typeOpenAI is the protocol of a named provider: chat completions as OpenAI
// has them.
const typeOpenAI = "openai"

// The provider that is there without any configuration.
const (
	openaiName    = "openai"
	openaiAddress = "https://api.openai.com/v1"
	openaiKeyEnv  = "OPENAI_API_KEY"
	openaiURLEnv  = "OPENAI_BASE_URL"
)

// maxSecret bounds keys and header values; servers refuse longer headers.
const maxSecret = 8 << 10

func providerFields() []string {
	return []string{"type", "base_url", "key_env", "key", "headers", "models"}
}

func modelFields() []string {
	return []string{"context_length", "tools", "images", "thinking", "schema"}
}

// providers decodes the named providers.
func (d *decoder) providers(f field) {
	if d.project {
		d.refuse(f, "it would decide where your data and keys go")
		return
	}
	d.mapping(f, nil, func(f field) {
		switch {
		case !validProvider(f.name):
			d.at(f, "a provider's name is of letters, digits, dots, dashes and underscores, and at most 64 long")
		case f.name == "ollama":
			d.at(f, "ollama is built in; set ollama.host, or choose another name")
		case f.name == "script":
			d.at(f, "script is built in; choose another name")
		default:
			d.provider(f)
		}
	})
}

func (d *decoder) provider(f field) {
	before := len(d.sink.errors)
	p := Provider{Name: f.name, Type: typeOpenAI, Headers: map[string]Secret{}, Models: map[string]Model{}}
	d.mapping(f, providerFields(), func(f field) {
		switch f.name {
		case "models":
			d.models(f, p.Name, p.Models)
			return
		case "headers":
			f.hide = true
			d.headers(f, p.Headers)
			return
		}
		f.hide = f.name != "type"
		v, ok := d.scalar(f, f.node, providerKind(f.name))
		if !ok {
			return
		}
		d.out.origins[f.path] = d.origin(f)
		switch f.name {
		case "type":
			p.Type = v.(string)
		case "base_url":
			p.BaseURL = v.(string)
		case "key_env":
			p.KeyEnv = v.(string)
		case "key":
			p.Key = NewSecret(v.(string))
			d.hasSecret(f)
		}
	})
	if p.BaseURL == "" && p.Name != openaiName && len(d.sink.errors) == before && f.node.Kind == yaml.MappingNode {
		d.at(f, f.label+" has no base_url")
	}
	d.out.providers[p.Name] = p
}

// providerKind is how the scalar fields of a provider are read.
func providerKind(name string) kind {
	switch name {
	case "type":
		return choiceKind(typeOpenAI)
	case "base_url":
		return kind{tags: []string{tagText}, want: wantBaseURL, parse: func(s string) (any, error) { return parseBaseURL(s) }}
	case "key_env":
		const want = "expected the name of a variable, not the key itself"
		return kind{tags: []string{tagText}, want: want, parse: func(s string) (any, error) {
			if !word(s, "_") || s[0] >= '0' && s[0] <= '9' {
				return nil, errors.New(want)
			}
			return s, nil
		}}
	}
	return kind{tags: []string{tagText}, want: "expected the key as text", parse: func(s string) (any, error) { return parseKey(s) }}
}

// parseKey checks a key. What isn't one is refused here, where the message
// doesn't show it; net/http's would.
func parseKey(s string) (string, error) {
	switch {
	case strings.HasPrefix(s, "!"):
		return "", errors.New("a key that begins with ! would be a command, and none is run here; use key_env")
	case s == "" || len(s) > maxSecret || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("expected a key of printable ASCII characters without spaces")
	}
	return s, nil
}

// headers decodes the headers of a provider.
func (d *decoder) headers(f field, out map[string]Secret) {
	k := kind{tags: []string{tagText, tagInt, tagBool}, want: "expected text on one line"}
	k.parse = func(s string) (any, error) {
		if len(s) > maxSecret || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, errors.New(k.want)
		}
		return s, nil
	}
	d.mapping(f, nil, func(f field) {
		if !word(f.name, "!#$%&'*+-.^_`|~") {
			d.at(f, "a header's name is of letters, digits and dashes")
			return
		}
		if v, ok := d.scalar(f, f.node, k); ok {
			out[f.name] = NewSecret(v.(string))
			d.out.origins[f.path] = d.origin(f)
			d.hasSecret(f)
		}
	})
}

// hasSecret notes where the file's first secret stands.
func (d *decoder) hasSecret(f field) {
	if d.secret == nil {
		d.secret = f.key
	}
}

// models decodes what is known of models: by model name within a provider,
// else by provider/model.
func (d *decoder) models(f field, within string, out map[string]Model) {
	f.free = true
	d.mapping(f, nil, func(f field) {
		if within == "" {
			if _, err := parseRef(f.name); err != nil {
				d.at(f, fmt.Sprintf("%s: %s", f.label, err))
				return
			}
		}
		if f.name == "" {
			d.at(f, f.label+": expected a model's name")
			return
		}
		m := Model{}
		d.mapping(f, modelFields(), func(f field) {
			k := boolKind()
			if f.name == "context_length" {
				k = countKind(1, maxContext, " of tokens")
			}
			v, ok := d.scalar(f, f.node, k)
			if !ok {
				return
			}
			d.out.origins[f.path] = d.origin(f)
			if n, isLength := v.(int); isLength {
				m.ContextLength = n
				return
			}
			*m.known(f.name) = v.(provider.Known)
		})
		out[f.name] = m
	})
}
