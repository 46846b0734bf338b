package clientconfig

import (
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

// secretForm is what the OAuth client's secret has to be: a variable alone.
func secretForm(text string) bool {
	name, ok := strings.CutPrefix(text, "${")
	name, closed := strings.CutSuffix(name, "}")
	return ok && closed && name != "" && strings.IndexFunc(name, func(c rune) bool { return !letter(c) }) < 0
}

// oauth reads a client that is registered with the server.
func (r *reader) oauth() error {
	for _, key := range []string{"oauth", "auth"} {
		v := r.in.take(key)
		switch {
		case v == nil:
			continue
		case v.kind != objectKind:
			if v.text != "true" {
				r.note("%s: %s is left out; fettle offers to sign in where the server requires it", key, v.short())
			}
			continue
		case r.out.Config.URL == "":
			r.note("%s: left out, since a command is not signed in to", key)
			continue
		}
		o := newObject(v)
		if on := o.text("enabled"); on == "false" {
			r.note("%s.enabled: left out; fettle offers to sign in where the server requires it", key)
		}
		for _, name := range []string{"clientId", "client_id", "CLIENT_ID"} {
			if id := o.text(name); id != "" {
				r.out.Settings.ClientID, _ = r.variables(id, key+"."+name)
			}
		}
		for _, name := range []string{"clientSecret", "client_secret", "CLIENT_SECRET"} {
			secret, err := r.variables(o.text(name), key+"."+name)
			switch {
			case secret == "" && err == nil:
			case err == nil && secretForm(secret):
				r.out.Settings.ClientSecret = secret
			default:
				r.note("%s.%s: left out, since a secret is not stored in plain text; keep it as a key and name it as ${NAME}", key, name)
			}
		}
		for _, name := range []string{"scopes", "scope"} {
			if scopes := o.take(name); scopes != nil && !scopes.empty() {
				r.note("%s.%s: left out; a sign-in requests the scopes that the server lists, not %s", key, name, scopes.short())
			}
		}
		r.unknown(key+".", o)
	}
	return nil
}

// maxTimeout is the longest time limit that is taken from another program.
const maxTimeout = 24 * time.Hour

// timeout reads the time limit of a call. Programs count it in seconds or in
// milliseconds, and the note states as which it was read.
func (r *reader) timeout() {
	for _, key := range []string{"timeout", "tool_timeout_sec"} {
		v := r.in.take(key)
		if v == nil {
			continue
		}
		d, ok := r.duration(key, v)
		if !ok || d <= 0 || d > maxTimeout {
			r.note("%s: %s is not a time limit between 0 and 24 hours, and was left out: a call is stopped after 10 minutes", key, v.short())
			continue
		}
		r.out.Settings.Timeout = toolset.Duration(d)
		r.note("%s: %s is read as %s", key, v.short(), d)
	}
}

// duration reads a number of seconds or milliseconds, or a text such as 30s.
func (r *reader) duration(key string, v *value) (time.Duration, bool) {
	if d, err := time.ParseDuration(v.text); err == nil && v.kind == textKind {
		return d, true
	}
	n, err := strconv.ParseFloat(v.text, 64)
	if err != nil || !v.scalar() || n > float64(maxTimeout/time.Millisecond) {
		return 0, false
	}
	const (
		milliseconds = 1000 // no program's limit is below a second, or above 16 minutes in seconds
		clineLongest = 3600 // but Cline and Roo Code count in seconds up to an hour
	)
	unit := time.Second
	if key == "timeout" && n >= milliseconds && (n > clineLongest || !r.cline()) {
		unit = time.Millisecond
	}
	return time.Duration(n * float64(unit)), true
}

// cline reports whether the entry has the fields that Cline and Roo Code write.
func (r *reader) cline() bool {
	for _, key := range []string{"autoApprove", "alwaysAllow", "disabledTools"} {
		if r.in.fields[key] != nil {
			return true
		}
	}
	return false
}

// tools notes which tools the other program hides or allows: here that is a matter of
// the settings deny and allow.
func (r *reader) tools() {
	for _, key := range []string{"disabledTools", "excludeTools", "excludedTools", "disabled_tools", "disallowedTools"} {
		if v := r.in.take(key); v != nil && !v.empty() {
			r.note("%s: left out, so these tools are offered here: %s; the setting deny refuses them as %s", key, v.short(), r.rules(v))
		}
	}
	for _, key := range []string{"includeTools", "includedTools", "enabledTools", "enabled_tools", "allowedTools", "tools"} {
		v := r.in.take(key)
		if v == nil || v.empty() || v.short() == "*" {
			continue
		}
		r.note("%s: left out, so all of its tools are offered here, not only %s", key, v.short())
	}
	for _, key := range []string{"alwaysAllow", "autoApprove", "alwaysAllowTools", "autoApproveTools"} {
		if v := r.in.take(key); v != nil && !v.empty() {
			r.note("%s: left out, so calls of %s ask here; the setting allow permits them as %s", key, v.short(), r.rules(v))
		}
	}
	if v := r.in.take("trust"); v != nil && !v.empty() {
		r.note("trust: left out, so every call asks here; the setting allow permits them as %s:*", r.id)
	}
}

// rules returns tools as the rules of fettle name them.
func (r *reader) rules(v *value) string {
	if v.kind != listKind {
		return r.id + ":*"
	}
	words := make([]string, len(v.list))
	for i, e := range v.list {
		words[i] = r.id + ":" + e.short()
	}
	return strings.Join(words, ", ")
}

// meanings explains for known fields what leaving them out means.
func meanings() map[string]string {
	return map[string]string{
		"envFile":             "the file is not read, so the variables in it are missing",
		"description":         "it is only shown there",
		"displayName":         "it is only shown there",
		"title":               "it is only shown there",
		"name":                "it is only shown there",
		"icon":                "it is only shown there",
		"iconPath":            "it is only shown there",
		"chatMenu":            "it concerns that program's menus",
		"gallery":             "it says where that program has the server from",
		"version":             "it says which version that program has installed",
		"dev":                 "the server is not restarted when files change",
		"settings":            "the server does not get them",
		"startup":             "a server starts when one of its tools is called",
		"startup_timeout_sec": "the time to start is fettle's own",
		"startup_timeout_ms":  "the time to start is fettle's own",
		"initTimeout":         "the time to start is fettle's own",
		"connectionTimeout":   "the time to start is fettle's own",
		"networkTimeout":      "the time to connect is fettle's own",
		"required":            "a turn continues without the server where it can't be started",
		"serverInstructions":  "fettle takes the instructions that the server sends",
		"headersHelper":       "the program is not run, so the headers that it prints are missing",
		"sandboxEnabled":      "commands run in fettle's own sandbox",
		"sandbox":             "commands run in fettle's own sandbox",
		"stderr":              "what the server writes to standard error is fettle's to show",
		"requiresOAuth":       "fettle offers to sign in where the server requires it",
		"authProviderType":    "fettle signs in by OAuth only",
		"oauth_resource":      "fettle signs in for the server's address",
		"restart":             "a server that ended is started again at the next call",
	}
}

// unknown notes the unused fields below a field of the server.
func (r *reader) unknown(under string, o *object) {
	for _, name := range o.rest() {
		r.note("%s%s: not known, and left out (%s)", under, name, o.fields[name].kind)
	}
}

// rest notes the server's unused fields.
func (r *reader) rest() {
	if v := r.in.take("customUserVars"); v != nil {
		for _, name := range newObject(v).rest() {
			r.note("customUserVars.%s: give it as a kept key or an environment variable of this name", name)
		}
	}
	known := meanings()
	for _, name := range r.in.rest() {
		v := r.in.fields[name]
		why, ok := known[name]
		if !ok {
			r.note("%s: not known, and left out (%s)", name, v.kind)
			continue
		}
		r.in.take(name)
		r.note("%s: left out (%s): %s", name, clip(v.short()), why)
	}
}

// clip shortens a value for a note, and marks that it did.
func clip(text string) string {
	const longest = 80
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= longest {
		return string(runes)
	}
	return string(runes[:longest]) + "… and " + strconv.Itoa(len(runes)-longest) + " more characters"
}
