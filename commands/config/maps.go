package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/engine/provider"
)

// maxSecret bounds keys and header values; servers refuse longer headers.
const maxSecret = 8 << 10

func providerFields() []string {
	return []string{"type", "api", "base_url", "key_env", "key", "agents", "headers", "query", "body", "models"}
}

func modelFields() []string {
	return []string{"context_length", "tools", "images", "thinking", "schema", "alias", "effort", "temperature", "max_tokens"}
}

// abilityFields are the fields of modelFields that say whether a model has an ability.
func abilityFields() []string { return []string{"tools", "images", "thinking", "schema"} }

// providers decodes the named providers. All of a project's are held back: they
// decide where data and keys go.
func (d *decoder) providers(f field) {
	d.mapping(f, nil, func(f field) {
		switch {
		case !validProvider(f.name):
			d.at(f, "a provider's name is of letters, digits, dots, dashes and underscores, and at most 64 long")
		case LooksLikeKey(f.name):
			d.at(f, "a provider's name stands here, and this looks like a key")
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
	p := newProvider(f.name)
	to := d.part.data
	if d.project {
		to = d.part.held
	}
	d.mapping(f, providerFields(), func(f field) {
		switch f.name {
		case "models":
			d.models(f, p.Name, &layer{models: p.Models, origins: to.origins})
		case "headers", "query", "body":
			f.hide = true
			d.additions(f, *p.additions(f.name))
		default:
			d.providerField(f, &p)
		}
	})
	if _, ok := builtinOf(p.Name, p.Type); p.BaseURL == "" && !ok && len(d.sink.errors) == before && f.node.Kind == yaml.MappingNode {
		d.noAddress(f)
	}
	if b, _ := builtinOf(p.Name, p.Type); p.Agents == AgentsNative && p.Type != TypeMistral && b.kind != TypeMistral {
		d.at(f, f.label+".agents: only providers of the type "+TypeMistral+" keep agents themselves")
	}
	d.checkAPI(f, p)
	to.providers[p.Name] = p
}

// checkAPI reports an api that the provider cannot have.
func (d *decoder) checkAPI(f field, p Provider) {
	kind := p.Type
	if b, ok := builtinOf(p.Name, p.Type); ok {
		kind = b.kind
	}
	switch {
	case p.API == "":
	case kind != "" && kind != TypeOpenAI:
		d.at(f, f.label+".api: only providers of the type "+TypeOpenAI+" have several APIs")
	case p.API == APIResponses && strings.Contains(p.BaseURL, "/openai/deployments/"):
		d.at(f, f.label+".api: one deployment at Azure has chat completions only; the Responses API needs a base_url that ends in /openai/v1")
	}
}

// providerField decodes a field that is one text.
func (d *decoder) providerField(f field, p *Provider) {
	f.hide = f.name != "type" && f.name != "api" && f.name != "agents"
	v, ok := d.scalar(f, f.node, providerKind(f.name))
	if !ok {
		return
	}
	text := v.(string)
	to, command := d.part.data, false
	switch f.name {
	case "type":
		p.Type = text
	case "api":
		p.API = text
	case "agents":
		p.Agents = text
	case "base_url":
		p.BaseURL = text
	case "key_env":
		p.KeyEnv = text
	case "key":
		if p.KeyCommand, command = strings.CutPrefix(text, "!"); command {
			p.KeyCommand = strings.TrimSpace(p.KeyCommand)
			break
		}
		p.KeyCommand, p.Key = "", NewSecret(text)
		d.hasSecret(f)
	}
	if d.project {
		to = d.hold(f, grantOf(f.name, command))
	}
	to.origins[f.path] = d.origin(f)
}

// noAddress reports a provider without a base_url. What stands in a profile or
// in a project's file may rest on an entry of the same name elsewhere, so it is
// judged when all files are read.
func (d *decoder) noAddress(f field) {
	width := utf8.RuneCountInString(f.name)
	p := d.src.problem(f.key.Line, f.key.Column, width, true, f.label+" has no base_url")
	p.Key = f.label
	if d.project || d.profile != "" {
		d.file.pending = append(d.file.pending, pending{f.name, *p})
		return
	}
	d.sink.add(*p)
}

// providerKind is how the scalar fields of a provider are read.
func providerKind(name string) kind {
	switch name {
	case "type":
		return choiceKind(TypeOpenAI, TypeAnthropic, TypeMistral)
	case "api":
		return choiceKind(APIResponses, APIChat)
	case "agents":
		return choiceKind(AgentsOwn, AgentsNative)
	case "base_url":
		return kind{tags: []string{tagText}, want: wantBaseURL, parse: func(s string) (any, error) { return parseBaseURL(s) }}
	case "key_env":
		const want = "expected the name of a variable, not the key itself"
		return kind{tags: []string{tagText}, want: want, parse: func(s string) (any, error) {
			if !word(s, "_") || s[0] >= '0' && s[0] <= '9' || LooksLikeKey(s) {
				return nil, errors.New(want)
			}
			return s, nil
		}}
	}
	return kind{tags: []string{tagText}, want: "expected the key as text", parse: func(s string) (any, error) {
		if command, ok := strings.CutPrefix(s, "!"); ok {
			return s, checkCommand(command)
		}
		return parseKey(s)
	}}
}

// maxCommand bounds a key's command: nobody judges a longer one by reading it.
const maxCommand = 2 << 10

// ParseKey checks a text that should be a key, and gives it. Its errors don't
// show what was found.
func ParseKey(s string) (string, error) { return parseKey(s) }

// checkCommand looks at a key's command. It is shown before it is run, so what
// is shown must be what runs.
func checkCommand(s string) error {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxCommand || !plain(s) {
		return errors.New("expected ! and a command on one line")
	}
	return nil
}

// parseKey checks a key. What isn't one is refused here, where the message
// doesn't show it; net/http's would.
func parseKey(s string) (string, error) {
	switch {
	case variable().FindString(s) == s && s != "":
		return "", errors.New("variables are not expanded here; key_env: " + strings.Trim(s, "${}") + " takes the key from one")
	case strings.HasPrefix(s, "!"):
		return "", errors.New("a key that begins with ! would be a command, and only the configuration can name one")
	case s == "" || len(s) > maxSecret || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("expected a key of printable ASCII characters without spaces")
	}
	return s, nil
}

// variable matches a shell's way to name a variable.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*)`)
})

func validHeader(name string) bool { return word(name, "!#$%&'*+-.^_`|~") }

func headerKind() kind {
	const want = "expected text on one line"
	return kind{tags: []string{tagText, tagInt, tagBool}, want: want, parse: func(s string) (any, error) {
		if len(s) > maxSecret || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, errors.New(want)
		}
		if name := variable().FindString(s); name != "" && strings.HasSuffix(s, name) {
			return nil, errors.New("variables are not expanded here; write the value itself, or use key_env for a key")
		}
		return s, nil
	}}
}

// additionKind is the kind of a value of one of additionFields.
func additionKind(field string) kind {
	k := headerKind()
	if field != "body" {
		return k
	}
	text := k.parse
	k.tags, k.want = append(k.tags, tagFloat), "expected a value of JSON"
	k.parse = func(s string) (any, error) {
		v, err := text(s)
		if err != nil || json.Valid([]byte(s)) {
			return v, err
		}
		quoted, err := json.Marshal(s)
		return string(quoted), err
	}
	return k
}

// validAddition reports whether name can be one of a field's names.
func validAddition(field, name string) bool {
	return field != "headers" && plain(name) && name != "" || validHeader(name)
}

// additions decodes what is added to the requests of a provider.
func (d *decoder) additions(f field, out map[string]Secret) {
	within, k := f.name, additionKind(f.name)
	d.mapping(f, nil, func(f field) {
		if !validAddition(within, f.name) {
			want := "a header's name is of letters, digits and dashes"
			if within != "headers" {
				want = "a name in " + within + " is one line"
			}
			d.at(f, want)
			return
		}
		v, ok := d.addition(within, f, k)
		if !ok {
			return
		}
		out[f.name] = NewSecret(v)
		d.hasSecret(f)
		to := d.part.data
		if d.project {
			to = d.hold(f, grantsHeader)
		}
		to.origins[f.path] = d.origin(f)
	})
}

// addition decodes one value. Those of body may be lists and mappings.
func (d *decoder) addition(within string, f field, k kind) (string, bool) {
	if within != "body" || f.node.Kind == yaml.ScalarNode {
		v, ok := d.scalar(f, f.node, k)
		text, _ := v.(string)
		return text, ok
	}
	var v any
	if err := f.node.Decode(&v); err != nil {
		d.at(f, f.label+": "+k.want)
		return "", false
	}
	raw, err := json.Marshal(v)
	if err != nil || len(raw) > maxSecret {
		d.at(f, f.label+": "+k.want)
		return "", false
	}
	return string(raw), true
}

// hasSecret notes where the file's secrets stand.
func (d *decoder) hasSecret(f field) {
	if d.secret == nil {
		d.secret = f.key
	}
	d.file.secrets = append(d.file.secrets, f.key.Line)
}

func modelFieldKind(name string) kind {
	switch name {
	case "context_length":
		return countKind(1, maxContext, " of tokens")
	case "alias":
		return aliasKind()
	case provider.EffortParam, provider.TemperatureParam, provider.MaxTokensParam:
		return paramKind(name)
	}
	return boolKind()
}

// models decodes what is known of models: by model name within a provider,
// else by provider/model.
func (d *decoder) models(f field, within string, out *layer) {
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
			v, ok := d.scalar(f, f.node, modelFieldKind(f.name))
			if !ok {
				return
			}
			out.origins[f.path] = d.origin(f)
			m.set(f.name, v)
		})
		out.models[f.name] = m
	})
}
