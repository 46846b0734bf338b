package manifest

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/netguard"
)

// The bounds of a tool's timeout. A tool that needs longer is a service.
const (
	minTimeout = 100 * time.Millisecond
	maxTimeout = 10 * time.Minute
)

func checkToolsetID(id string) *complaint {
	switch id {
	case "client": // tools of clients are told from toolsets' by it
		return complain(CodeReservedID, show(id)+" stands for the tools that a client of fettle runs itself; choose another id")
	case "builtin", "builtins", "fettle", "mcp", "tools", "toolset", "toolsets":
		return complain(CodeReservedID, show(id)+" is fettle's own; choose another id")
	}
	if deviceName(id) {
		return complain(CodeReservedID, show(id)+" is a device on Windows, where no folder can have that name; choose another id")
	}
	return nil
}

// deviceName tells whether Windows takes a name for a device.
func deviceName(s string) bool {
	switch s = strings.ToLower(s); s {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(s) == 4 && (strings.HasPrefix(s, "com") || strings.HasPrefix(s, "lpt")) && s[3] >= '0' && s[3] <= '9'
}

// checkToolName refuses what models have learnt as tools of their own
// provider: they would call it by that tool's rules, and trust it as such.
func checkToolName(id string) *complaint {
	switch strings.ToLower(id) {
	case "bash", "sh", "shell", "local_shell", "container_exec", "terminal", "computer", "computer_use", "computer_use_preview",
		"apply_patch", "str_replace_editor", "str_replace_based_edit_tool", "text_editor",
		"code_interpreter", "code_execution", "file_search", "image_generation", "memory", "google_search", "url_context",
		"task", "todowrite", "multi_tool_use":
		return complain(CodeReservedID, show(id)+" is a name that models take for a built-in tool of their provider; choose another id")
	}
	return nil
}

func checkEntrypoint(s string) *complaint {
	if _, err := ParseEntrypoint(s); err != nil {
		return complain(CodeEntrypoint, strings.TrimPrefix(err.Error(), "read entrypoint "))
	}
	return nil
}

func checkTimeout(s string) *complaint {
	d, err := time.ParseDuration(s)
	if err != nil || d < minTimeout || d > maxTimeout {
		return complain(CodeValueRange, fmt.Sprintf("expected a duration from %s to 10m, found %s", minTimeout, show(s)))
	}
	return nil
}

// cleanPath tells whether p is a plain relative path with slashes: one that
// names a place below its root on every system.
func cleanPath(p string) bool {
	return p != "." && p != "" && path.Clean(p) == p && !strings.HasPrefix(p, "/") && p != ".." && !strings.HasPrefix(p, "../") &&
		!strings.ContainsAny(p, "\\:*?\"<>|") && !strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// BundlePath gives the path in the bundle that a manifest's path means: with
// slashes, without the leading ./ that document 004 allows. It is "" for a
// path that leads anywhere else.
func BundlePath(p string) string {
	p = strings.TrimPrefix(p, "./")
	if !cleanPath(p) {
		return ""
	}
	return p
}

func checkArtifact(p string) *complaint {
	switch clean := BundlePath(p); {
	case clean == "":
		return complain(CodePath, "expected a path inside the bundle, such as artifacts/results.html, found "+show(p))
	case strings.Contains(clean, "$"):
		return complain(CodePath, "an artifact is one file of the bundle; its path can't hold "+show("$"))
	case !slices.Contains([]string{".html", ".htm", ".xhtml", ".svg"}, strings.ToLower(path.Ext(clean))):
		return complain(CodePath, "expected an HTML file, found "+show(p))
	}
	return nil
}

func checkWorkspacePath(p string) *complaint {
	if !cleanPath(p) {
		return complain(CodePath, "expected a path inside the workspace, such as data/in.csv, found "+show(p))
	}
	return nil
}

func checkReadPath(p string) *complaint {
	rest, ok := strings.CutPrefix(p, "/")
	if !ok {
		rest, ok = strings.CutPrefix(p, "~/")
	}
	if !ok || !cleanPath(rest) {
		return complain(CodePath, "expected one path that begins with / or ~/ and names a file or folder, found "+show(p))
	}
	return nil
}

func checkHost(s string) *complaint {
	host, port, hasPort := strings.Cut(s, ":")
	if hasPort && (port == "0" || len(port) == 5 && port > "65535") {
		return complain(CodeHost, "expected a port from 1 to 65535, found "+show(port))
	}
	return privateHost(strings.TrimPrefix(host, "*."))
}

// privateHost refuses names and addresses that mean the user's own machine or
// network. Names are checked again when they are dialled; this is for what can
// be told by reading.
func privateHost(host string) *complaint {
	if err := netguard.CheckHost(host); err != nil {
		return complain(CodeHost, err.Error()+"; a toolset reaches public hosts only")
	}
	return nil
}

func checkServerURL(s string) *complaint {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || strings.ContainsAny(s, "\\ \t\r\n"):
		return complain(CodeURL, "expected an address such as https://mcp.example.com/mcp, found "+show(s))
	case u.User != nil:
		return complain(CodeURL, "an address holds no user name or password; use headers with ${NAME}")
	case strings.ContainsAny(u.Host, "${}"):
		return complain(CodeVariable, "the host can't be a variable: people approve where a server is")
	}
	if c := privateHost(u.Hostname()); c != nil {
		return complain(CodeURL, c.msg)
	}
	if u.Scheme != "https" {
		return complain(CodeURL, "expected https, found "+show(u.Scheme))
	}
	return checkVariables(s)
}

// checkVariables requires each ${ to be a ${NAME}, or ${NAME:-} where the variable is
// optional and empty unless set. What else a shell would expand
// is left as it is, since no shell sees it.
func checkVariables(s string) *complaint {
	for rest := s; ; {
		_, after, ok := strings.Cut(rest, "${")
		if !ok {
			return nil
		}
		name, tail, closed := strings.Cut(after, "}")
		name = strings.TrimSuffix(name, optionalMark)
		if !closed || !compiled().match(patternEnv, name) {
			return complain(CodeVariable, "expected ${NAME} with the name of an environment variable, found "+show("${"+after))
		}
		rest = tail
	}
}

// optionalMark follows a variable's name where the variable need not be set.
const optionalMark = ":-"

// variables returns the names in the ${NAME} and ${NAME:-} of a text.
func variables(s string) []string {
	var names []string
	for {
		_, after, ok := strings.Cut(s, "${")
		if !ok {
			return names
		}
		name, tail, _ := strings.Cut(after, "}")
		name = strings.TrimSuffix(name, optionalMark)
		names = append(names, name)
		s = tail
	}
}

// loaderVariable tells whether a variable makes programs load or run code of
// somebody's choosing before they do anything else.
func loaderVariable(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"LD_", "DYLD_", "PYTHON", "GIT_", "BASH_FUNC_", "FETTLE_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "PATH", "NODE_OPTIONS", "NODE_PATH", "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "PROMPT_COMMAND", "PERL5LIB", "PERL5OPT", "PERL5DB",
		"RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GCONV_PATH", "GLIBC_TUNABLES",
		"NPM_CONFIG_REGISTRY", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "SHELL", "COMSPEC", "PATHEXT",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "EDITOR", "PAGER":
		return true
	}
	return false
}
