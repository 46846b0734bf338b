package validate

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/pysource"
	"github.com/fettle-cli/fettle/internal/pystdlib"
)

// ofRuntime tells whether an import is of the module of fettle's own that every
// tool can import, by its name or by that which document 000 has it by.
func ofRuntime(i pysource.Import) bool {
	if i.Level > 0 {
		return false
	}
	switch first, _, _ := strings.Cut(i.Module, "."); first {
	case "fettle", "backend":
		return true
	}
	return i.Module == "tools.registry" || i.Module == "tools" && i.Name == "registry"
}

// maxImports bounds how many different imports of one module are judged.
const maxImports = 500

// imports judges what the modules import: what isn't in the bundle has to be in
// Python or in a requirement, and what reaches the network wants a permission.
func (v *validator) imports() {
	needs := v.requirements()
	for _, p := range slices.Sorted(maps.Keys(v.modules)) {
		m := v.modules[p]
		if m.source == nil {
			continue
		}
		said := map[string]bool{}
		for _, i := range m.source.Imports {
			v.imported(m, i, needs, said)
		}
	}
}

func (v *validator) imported(m *module, i pysource.Import, needs packages, said map[string]bool) {
	first, _, _ := strings.Cut(i.Module, ".")
	once := func(key string) bool {
		again := said[key]
		said[key] = true
		return !again
	}
	if i.Conditional && (i.Level > 0 || first == "tools") || len(said) >= maxImports || !once(strings.Repeat(".", i.Level)+i.Module+" "+i.Name+" "+strconv.FormatBool(i.Conditional)) {
		return
	}
	switch {
	case ofRuntime(i):
	case i.Level > 0 || first == "tools":
		if v.resolve(m.path, i) == "" && !v.folder(m.path, i) {
			v.missingModule(m, i)
		}
	case v.sibling(first):
	case pystdlib.Standard(first) || strings.HasPrefix(first, "_"):
		if net := network(i); net != "" && len(v.m.Permissions.Network) == 0 && once("network "+net) {
			v.add(spot{m.path, i.Place.Line, i.Place.Column}, Warning, CodeNetwork,
				"it imports %s, and permissions.network is empty: it will reach nothing", show(net))
		}
	case i.Conditional:
	case !needs.has(first):
		if once("package " + first) {
			v.add(spot{m.path, i.Place.Line, i.Place.Column}, Warning, CodeRequirement,
				"it imports %s, which is neither in the bundle, nor in Python, nor among requirements", show(first))
		}
	case webPackage(first) && len(v.m.Permissions.Network) == 0 && once("package "+first):
		v.add(spot{m.path, i.Place.Line, i.Place.Column}, Warning, CodeNetwork,
			"it imports %s, and permissions.network is empty: it will reach nothing", show(first))
	}
}

// missingModule says that an import within the bundle leads nowhere.
func (v *validator) missingModule(m *module, i pysource.Import) {
	name := strings.Repeat(".", i.Level) + i.Module
	dotted := i.Module
	switch {
	case i.Module == "":
		name, dotted = name+i.Name, i.Name
	case i.Name != "" && i.Name != "*" && v.folder(m.path, pysource.Import{Module: i.Module, Level: i.Level}):
		name, dotted = name+"."+i.Name, dotted+"."+i.Name
	}
	file := strings.ReplaceAll(dotted, ".", "/") + ".py"
	if i.Level > 0 {
		file = path.Join(path.Dir(m.path), file)
	}
	msg := "it imports " + show(name) + ", which the bundle doesn't have"
	if near := didyoumean.Of(file, v.pythonFiles()); near != "" {
		msg += " (did you mean " + show(near) + "?)"
	}
	v.add(spot{m.path, i.Place.Line, i.Place.Column}, Error, CodeImport, "%s", msg)
}

// folder tells whether an import names a folder of modules without a file of
// its own, or a name of one.
func (v *validator) folder(from string, i pysource.Import) bool {
	dir := strings.ReplaceAll(i.Module, ".", "/")
	if i.Level > 0 {
		base := path.Dir(from)
		for range i.Level - 1 {
			base = path.Dir(base)
		}
		if dir = path.Join(base, dir); i.Module == "" && i.Name != "" && i.Name != "*" {
			return false // from . import name, where there is no __init__.py to have it
		}
	}
	for _, f := range v.b.Files {
		if strings.HasPrefix(f.Path, dir+"/") && (i.Name == "" || i.Name == "*") {
			return true
		}
	}
	return false
}

// sibling tells whether a bare name is a module of the bundle's tools folder.
func (v *validator) sibling(name string) bool {
	if v.first([]string{"tools/" + name + ".py", "tools/" + name + "/__init__.py"}) != "" {
		return true
	}
	for _, f := range v.b.Files {
		if strings.HasPrefix(f.Path, "tools/"+name+"/") && f.Kind == "python" {
			return true
		}
	}
	return false
}

// network gives the module of Python's own that reaches out, if the import is
// of one.
func network(i pysource.Import) string {
	for _, name := range []string{
		"urllib.request", "http.client", "socket", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "nntplib", "xmlrpc.client", "webbrowser", "ssl",
	} {
		if i.Module == name || strings.HasPrefix(i.Module, name+".") || i.Name != "" && i.Module+"."+i.Name == name {
			return name
		}
	}
	return ""
}

// webPackage knows the packages that people reach out with.
func webPackage(name string) bool {
	return slices.Contains([]string{
		"requests", "httpx", "aiohttp", "urllib3", "websockets", "websocket", "openai", "anthropic", "boto3", "paramiko", "selenium", "playwright", "feedparser",
	}, name)
}

// packages are the requirements, as names that imports are compared with.
type packages struct {
	names map[string]bool
	// unknown tells that a requirement may bring modules of other names.
	unknown bool
}

var requirementName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*`) })

// requirements reads the names of the required packages.
func (v *validator) requirements() packages {
	out := packages{names: map[string]bool{}}
	imports, seen := map[string]bool{}, map[string]bool{}
	for _, m := range v.modules {
		if m.source == nil {
			continue
		}
		for _, i := range m.source.Imports {
			if first, _, _ := strings.Cut(i.Module, "."); !seen[first] {
				seen[first] = true
				imports[plainName(first)] = true
			}
		}
	}
	v.hashes()
	for _, r := range v.m.Requirements {
		name := plainName(requirementName().FindString(r))
		out.names[name] = true
		provides := provided(name)
		for _, p := range provides {
			out.names[p] = true
		}
		if !imports[name] && !slices.ContainsFunc(provides, func(p string) bool { return imports[p] }) {
			out.unknown = true // it brings something, and maybe what is imported
		}
	}
	return out
}

func (p packages) has(module string) bool { return p.unknown || p.names[plainName(module)] }

// plainName is a package's name as the index compares it, with underscores.
func plainName(s string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(s))
}

// provided knows the packages whose modules have other names.
func provided(name string) []string {
	switch name {
	case "pyyaml":
		return []string{"yaml"}
	case "pillow":
		return []string{"pil"}
	case "beautifulsoup4":
		return []string{"bs4"}
	case "scikit_learn":
		return []string{"sklearn"}
	case "scikit_image":
		return []string{"skimage"}
	case "opencv_python", "opencv_python_headless":
		return []string{"cv2"}
	case "python_dateutil":
		return []string{"dateutil"}
	case "python_dotenv":
		return []string{"dotenv"}
	case "python_docx":
		return []string{"docx"}
	case "python_pptx":
		return []string{"pptx"}
	case "pymupdf":
		return []string{"fitz"}
	case "pyjwt":
		return []string{"jwt"}
	case "attrs":
		return []string{"attr"}
	case "setuptools":
		return []string{"pkg_resources"}
	case "biopython":
		return []string{"bio"}
	}
	return nil
}

// environment compares the variables that are read with those that may be.
func (v *validator) environment() {
	allowed := v.m.Permissions.Env
	for _, p := range slices.Sorted(maps.Keys(v.modules)) {
		m := v.modules[p]
		if m.source == nil {
			continue
		}
		said := map[string]bool{}
		for _, e := range m.source.Env {
			if slices.Contains(allowed, e.Name) || always(e.Name) || said[e.Name] {
				continue
			}
			said[e.Name] = true
			msg := "it reads the variable " + show(e.Name) + ", which permissions.env doesn't name: it will not be there"
			if near := didyoumean.Of(e.Name, allowed); near != "" {
				msg = "it reads the variable " + show(e.Name) + ", which permissions.env doesn't name (did you mean " + show(near) + "?)"
			}
			v.add(spot{p, e.Place.Line, e.Place.Column}, Warning, CodeEnv, "%s", msg)
		}
	}
}

// always tells whether every tool is given the variable.
func always(name string) bool {
	return strings.HasPrefix(name, "FETTLE_") || slices.Contains([]string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}, name)
}
