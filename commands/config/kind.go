package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/provider"
)

// kind is a type of value: what it is called, how YAML may write it, and how
// its text is read. parse's errors say what was expected; the value that was
// found is added by whoever knows whether it may be shown.
type kind struct {
	name string   // for the table of settings
	tags []string // the YAML tags of a scalar that are accepted
	want string   // what a scalar must look like, for messages
	list bool     // a list of scalars, each read by parse
	// parse reads one text.
	parse func(text string) (any, error)
	// word reads a text that stands for a whole list, where there is one.
	word func(text string) (any, bool)
	// canon is how a value is written into a file, where people may give it in
	// several ways.
	canon func(text string) string
	// gather makes a list's value of its elements; nil keeps them as []string.
	gather func(elems []string) any
	// wants is what a list must look like, for messages.
	wants string
}

const (
	tagText  = "!!str"
	tagInt   = "!!int"
	tagFloat = "!!float"
	tagBool  = "!!bool"
	tagNull  = "!!null"
	tagMerge = "!!merge"
	tagMap   = "!!map"
	tagSeq   = "!!seq"
)

// The bounds of texts that end up in messages, addresses and requests.
const (
	maxRef  = 512
	maxRule = 4 << 10
)

const wantText = "expected text"

func textKind() kind {
	return kind{name: "text", tags: []string{tagText}, want: wantText, parse: func(s string) (any, error) { return s, nil }}
}

func choiceKind(choices ...string) kind {
	want := "expected " + strings.Join(choices, " or ")
	if len(choices) > 2 {
		want = "expected one of " + strings.Join(choices, ", ")
	}
	return kind{name: strings.Join(choices, " | "), tags: []string{tagText}, want: want, parse: func(s string) (any, error) {
		for _, c := range choices {
			if s == c {
				return s, nil
			}
		}
		return nil, errors.New(want)
	}}
}

func modelKind() kind {
	return kind{
		name: "model", tags: []string{tagText}, want: wantModel,
		parse: func(s string) (any, error) { return parseModel(s) },
	}
}

func modelsKind() kind {
	return kind{
		name: "list of models", tags: []string{tagText}, list: true, want: wantModel,
		wants: "expected a list, such as [ollama/qwen3, openai/gpt-5]",
		parse: func(s string) (any, error) { return parseModel(s) },
	}
}

func rulesKind() kind {
	return kind{
		name: "list of rules", tags: []string{tagText}, list: true, want: wantGlob,
		wants: "expected a list of rules, such as [read_file, list_*]",
		parse: func(s string) (any, error) { return parseGlob(s) },
	}
}

func toolsKind() kind {
	return kind{
		name: "on | off | list of globs", tags: []string{tagText, tagBool}, list: true, want: wantGlob,
		wants: "expected on, off or a list of globs, such as [read_file, list_*]",
		parse: func(s string) (any, error) { return parseGlob(s) },
		word: func(s string) (any, bool) {
			switch strings.ToLower(s) {
			case "on", "true", "yes":
				return Tools{Enabled: true}, true
			case "off", "false", "no":
				return Tools{}, true
			}
			return nil, false
		},
		gather: func(elems []string) any { return Tools{Enabled: len(elems) > 0, Globs: elems} },
	}
}

func countKind(low, high int, of string) kind {
	want := fmt.Sprintf("expected a whole number%s from %d to %d", of, low, high)
	return kind{name: "number", tags: []string{tagInt}, want: want, parse: func(s string) (any, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high || len(s) > 1 && strings.HasPrefix(s, "0") {
			return nil, errors.New(want)
		}
		return n, nil
	}}
}

func durationKind(low, high time.Duration) kind {
	want := fmt.Sprintf("expected a duration such as 120s or 10m, from %s to %s", short(low), short(high))
	return kind{name: "duration", tags: []string{tagText, tagInt}, want: want, parse: func(s string) (any, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < low || d > high {
			return nil, errors.New(want)
		}
		return d, nil
	}}
}

func sizeKind(low, high int64) kind {
	want := fmt.Sprintf("expected a size such as 16MiB or 500kB, from %s to %s", FormatSize(low), FormatSize(high))
	return kind{name: "size", tags: []string{tagText, tagInt}, want: want, parse: func(s string) (any, error) {
		n, ok := parseSize(s)
		if !ok || n < low || n > high {
			return nil, errors.New(want)
		}
		return n, nil
	}}
}

func hostKind() kind {
	return kind{
		name: "address", tags: []string{tagText}, want: wantHost,
		parse: func(s string) (any, error) { return parseHost(s) },
	}
}

func boolKind() kind {
	const want = "expected true or false"
	return kind{name: "true | false", tags: []string{tagBool, tagText}, want: want, parse: func(s string) (any, error) {
		switch strings.ToLower(s) {
		case "true", "yes", "on":
			return provider.Yes, nil
		case "false", "no", "off":
			return provider.No, nil
		}
		return nil, errors.New(want)
	}, canon: func(s string) string {
		switch strings.ToLower(s) {
		case "true", "yes", "on":
			return "true"
		}
		return "false"
	}}
}

// validProvider checks a provider's name: ASCII letters, digits, dots, dashes
// and underscores, at most 64 of them, the first a letter or a digit. It has no
// slash, so that the first slash of a Ref ends it.
func validProvider(name string) bool {
	return len(name) <= 64 && word(name, "._-") && !strings.ContainsRune("._-", rune(name[0]))
}

// ValidProvider tells whether a provider may have a name.
func ValidProvider(name string) bool { return validProvider(name) }

// word tells whether s is one or more ASCII letters and digits or one of more.
func word(s, more string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && strings.IndexByte(more, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

const wantRef = "expected provider/model, such as ollama/qwen3"

// parseRef checks a provider/model. The model part may hold anything that can
// be printed, slashes too: its name is the provider's business.
func parseRef(s string) (string, error) {
	provider, model, ok := strings.Cut(s, "/")
	if !ok || !validProvider(provider) || model == "" || len(s) > maxRef || !plain(model) {
		return "", errors.New(wantRef)
	}
	return s, nil
}

const wantModel = "expected a model, such as ollama/qwen3 or gpt-5"

// parseModel checks the name of a model: provider/model, an alias, or a short name. Which
// model a short name means is decided when the model is asked.
func parseModel(s string) (string, error) {
	valid := shortName(s)
	if strings.Contains(s, "/") {
		_, err := parseRef(s)
		valid = err == nil
	}
	if !valid {
		return "", errors.New(wantModel)
	}
	return s, nil
}

// paramKind is the kind of a parameter of a model.
func paramKind(name string) kind {
	k := kind{name: "number", tags: []string{tagInt, tagText}}
	switch name {
	case provider.EffortParam:
		names := make([]string, 0, len(provider.Efforts()))
		for _, e := range provider.Efforts() {
			names = append(names, string(e))
		}
		k = choiceKind(names...)
	case provider.TemperatureParam:
		k.tags = append(k.tags, tagFloat)
	}
	k.want = new(provider.Params).Set(name, "").Error()
	k.parse = func(s string) (any, error) {
		var p provider.Params
		if err := p.Set(name, s); err != nil {
			return nil, err
		}
		return p, nil
	}
	return k
}

// shortName reports whether s can be an alias or a short name of a model.
func shortName(s string) bool { return len(s) <= maxRef && word(s, "_-.:") }

func aliasKind() kind {
	const want = "expected a short name of letters, digits, dots, dashes, colons and underscores"
	return kind{name: "text", tags: []string{tagText}, want: want, parse: func(s string) (any, error) {
		if !shortName(s) {
			return nil, errors.New(want)
		}
		return s, nil
	}}
}

const wantGlob = "expected text on one line, without spaces around it"

func parseGlob(s string) (string, error) {
	if s == "" || len(s) > maxRule || !plain(s) {
		return "", errors.New(wantGlob)
	}
	return s, nil
}

// plain tells whether s can be printed as it is: valid UTF-8, no control or
// formatting characters, no space at its ends.
func plain(s string) bool {
	if !utf8.ValidString(s) || strings.TrimSpace(s) != s {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' })
}

// parseSize reads a number of bytes: "4096", "500kB" (thousands), "16MiB" or
// "16M" (powers of 1024).
func parseSize(s string) (int64, bool) {
	digits := strings.TrimRightFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || strings.HasPrefix(s, "+") {
		return 0, false
	}
	factor := int64(0)
	switch strings.ToLower(strings.TrimSpace(s[len(digits):])) {
	case "", "b":
		factor = 1
	case "kb":
		factor = 1e3
	case "mb":
		factor = 1e6
	case "gb":
		factor = 1e9
	case "k", "kib":
		factor = 1 << 10
	case "m", "mib":
		factor = 1 << 20
	case "g", "gib":
		factor = 1 << 30
	}
	if factor == 0 || n > math.MaxInt64/factor {
		return 0, false
	}
	return n * factor, true
}

// FormatSize writes a number of bytes the way the configuration does: in the
// largest unit that divides it.
func FormatSize(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}

// short is a duration without the zero parts that its String has: 10m, 0.
func short(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ollamaPort is where an Ollama listens unless it is told otherwise.
const ollamaPort = "11434"

const wantHost = "expected an address such as 127.0.0.1:11434 or https://models.example"

// parseHost reads an Ollama's address as OLLAMA_HOST may hold it (a host, a
// port, a scheme and a path, each of them optional but one) and gives the URL
// that a client connects to: what a server listens on when it listens on
// everything is no address to connect to, so it becomes the loopback.
func parseHost(s string) (string, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	port := ollamaPort
	switch {
	case s == "ollama.com": // as Ollama's own client has it
		scheme, rest, port = "https", s, "443"
	case !ok:
		scheme, rest = "http", s
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return "", errors.New(wantHost)
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host := hostport
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host, port = h, p
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New(wantHost)
	}
	switch ip, err := netip.ParseAddr(host); {
	case host == "" && hostport != "", ip == netip.IPv4Unspecified():
		host = "127.0.0.1"
	case ip == netip.IPv6Unspecified():
		host = "::1"
	case err != nil && (len(host) > maxHost || !word(host, ".-_")):
		return "", errors.New(wantHost)
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), Path: strings.TrimRight("/"+path, "/")}
	if strings.ContainsAny(path, "?#@") || !plain(path) {
		return "", errors.New(wantHost)
	}
	return u.String(), nil
}

// maxHost is the longest name that DNS allows.
const maxHost = 253

const wantBaseURL = "expected an address such as http://127.0.0.1:8000/v1"

// parseBaseURL checks the address of an OpenAI-compatible provider.
func parseBaseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !plain(s) || len(s) > maxRef:
		return "", errors.New(wantBaseURL)
	case u.User != nil:
		return "", errors.New("an address holds no user name or password; use key or headers")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "", errors.New("an address ends before ? and #")
	}
	return strings.TrimRight(s, "/"), nil
}
