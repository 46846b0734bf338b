package settings

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
)

// settingJSON is a key with its value, as `config list` and `config get` print
// it.
type settingJSON struct {
	Key    string          `json:"key"`
	Value  any             `json:"value"`
	Secret bool            `json:"secret,omitempty"`
	Origin []config.Origin `json:"origin"`
}

func describeSetting(e config.Entry) settingJSON {
	return settingJSON{Key: e.Key, Value: e.Value, Secret: e.Secret, Origin: e.Origins}
}

// configListJSON is what `config list --output json` prints.
type configListJSON struct {
	SchemaVersion int           `json:"schema_version"`
	Profile       string        `json:"profile,omitempty"`
	Profiles      []string      `json:"profiles"` // that there are
	Files         []string      `json:"files"`
	Settings      []settingJSON `json:"settings"`
}

// configGetJSON is what `config get --output json` prints.
type configGetJSON struct {
	SchemaVersion int `json:"schema_version"`
	settingJSON
}

func runConfigList(rt *workbench.Runtime, o configOptions) error {
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	var entries []config.Entry
	all := cfg.Entries()
	if o.key == "profiles" || strings.HasPrefix(o.key, "profiles.") {
		all = cfg.ProfileEntries()
	}
	for _, e := range all {
		if o.key == "" || e.Key == o.key || strings.HasPrefix(e.Key, strings.TrimSuffix(o.key, ".")+".") {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return notSet(rt, o.key)
	}
	if o.output == "json" {
		out := configListJSON{SchemaVersion: workbench.OutputVersion, Profile: cfg.Profile, Profiles: append([]string{}, cfg.Profiles...), Files: append([]string{}, cfg.Files...), Settings: []settingJSON{}}
		for _, e := range entries {
			out.Settings = append(out.Settings, describeSetting(e))
		}
		return workbench.PrintJSON(rt, out)
	}
	table := term.NewTable(rt.Streams.Out,
		term.Column{Title: "key", Cut: true},
		term.Column{Title: "value", Cut: true},
		term.Column{Title: "from", Cut: true, Style: rt.Streams.Out.Style().Dim})
	for _, e := range entries {
		table.Row(e.Key, escapedLine(e.Text), originText(e.Origins))
	}
	return table.Flush()
}

// originText tells where a value comes from; several places where rules add up.
func originText(origins []config.Origin) string {
	var out []string
	for _, o := range origins {
		out = append(out, o.String())
	}
	return strings.Join(out, ", ")
}

// escapedLine is a text for one line of a list; line breaks show as \n.
func escapedLine(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", `\n`)
}

// notSet says that a key, or all below it, has no value, or that there is no
// such key.
func notSet(rt *workbench.Runtime, key string) error {
	o, err := rt.ConfigSources(nil)
	if err != nil {
		return err
	}
	k, err := config.OpenUserFile(o.File).Key(key)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, k.String()+" is not set", fault.Run("fettle config list   tells what is"))
}

func runConfigGet(rt *workbench.Runtime, o configOptions) error {
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	e, err := findEntry(rt, cfg, o.key)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, configGetJSON{workbench.OutputVersion, describeSetting(e)})
	}
	text := strings.TrimSuffix(e.Text, "\n") + "\n"
	if list, ok := e.Value.([]string); ok {
		text = ""
		for _, elem := range list {
			text += elem + "\n"
		}
	}
	w := rt.Streams.Out.Cleaner()
	_, _ = w.Write([]byte(text)) // the output remembers
	return w.Flush()
}

// findEntry gives the entry of a key, or says why it has none.
func findEntry(rt *workbench.Runtime, cfg *config.Config, key string) (config.Entry, error) {
	if e, ok := cfg.Entry(key); ok {
		return e, nil
	}
	src, err := rt.ConfigSources(nil)
	if err != nil {
		return config.Entry{}, err
	}
	k, err := config.OpenUserFile(src.File).Key(key)
	if err != nil {
		return config.Entry{}, err
	}
	if e, ok := cfg.Entry(k.String()); ok { // it was given with quotes
		return e, nil
	}
	if k.Section {
		return config.Entry{}, cmdline.Usagef("fettle config list "+cmdline.ShellWord(k.String()), "%s holds other keys", k)
	}
	return config.Entry{}, notSet(rt, key)
}

// configPathJSON is what `config path --output json` prints.
type configPathJSON struct {
	SchemaVersion int    `json:"schema_version"`
	File          string `json:"file"`
	Exists        bool   `json:"exists"`
	Project       string `json:"project,omitempty"`
	Trusted       bool   `json:"project_trusted"`
	Keys          string `json:"keys"`
}

func runConfigPath(rt *workbench.Runtime, o configOptions) error {
	src, err := rt.ConfigSources(nil)
	if err != nil {
		return err
	}
	project := config.FindProject(src.WorkDir, src.Home)
	if o.output == "json" {
		_, err := os.Stat(src.File)
		out := configPathJSON{
			SchemaVersion: workbench.OutputVersion, File: src.File, Exists: err == nil, Project: project,
			Keys: filepath.Join(filepath.Dir(src.File), keystore.FileName),
		}
		if project != "" {
			p, _ := config.ReadProject(project, src.Trusted)
			out.Trusted = p != nil && p.Trusted
		}
		return workbench.PrintJSON(rt, out)
	}
	if !o.project {
		rt.Streams.Out.Printf("%s\n", src.File)
		return nil
	}
	if project == "" {
		return fault.New(fault.NotFound, "no project's configuration counts here", fault.Run("a project keeps it in .fettle/config.yaml"))
	}
	rt.Streams.Out.Printf("%s\n", project)
	return nil
}

// problemJSON is a problem as `config check` prints it.
type problemJSON struct {
	Severity string `json:"severity"` // error, warning
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Source   string `json:"source,omitempty"` // a variable or a flag
	Key      string `json:"key,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// configCheckJSON is what `config check --output json` prints.
type configCheckJSON struct {
	SchemaVersion int           `json:"schema_version"`
	Files         []string      `json:"files"`
	Errors        int           `json:"errors"`
	Warnings      int           `json:"warnings"`
	Problems      []problemJSON `json:"problems"`
}

func runConfigCheck(rt *workbench.Runtime, o configOptions) error {
	src, err := rt.ConfigSources(nil)
	if err != nil {
		return err
	}
	problems, files := []config.Problem(nil), []string(nil)
	if o.file == "" {
		problems, files = config.Check(src)
	} else if problems, err = checkFile(o.file, src); err != nil {
		return err
	} else {
		files = []string{o.file}
	}
	out := configCheckJSON{SchemaVersion: workbench.OutputVersion, Files: append([]string{}, files...), Problems: []problemJSON{}}
	for _, p := range problems {
		severity := "error"
		if p.Warning {
			severity = "warning"
			out.Warnings++
		} else {
			out.Errors++
		}
		out.Problems = append(out.Problems, problemJSON{
			severity, p.File, p.Line, p.Column, p.Source, p.Key, p.Msg, p.Hint,
		})
	}
	if o.output == "json" {
		if err := workbench.PrintJSON(rt, out); err != nil {
			return err
		}
	} else {
		showProblems(rt, problems)
	}
	return checked(rt, out, o.output)
}

// checkFile checks one file by itself.
func checkFile(file string, src config.Options) ([]config.Problem, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fault.New(fault.NotFound, "there is no file "+file)
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "find "+file, err)
	}
	if filepath.Base(filepath.Dir(abs)) == ".fettle" {
		_, problems := config.ReadProject(file, src.Trusted)
		return problems, nil
	}
	problems, _ := config.Check(config.Options{File: file})
	return problems, nil
}

// showProblems prints problems as compilers do: a place, how bad it is, what is
// wrong, and the line.
func showProblems(rt *workbench.Runtime, problems []config.Problem) {
	out := rt.Streams.Out
	style := out.Style()
	for _, p := range problems {
		label := style.Red("error  ")
		if p.Warning {
			label = style.Yellow("warning")
		}
		text := p.String()
		place, ok := strings.CutSuffix(text, ": "+p.Msg)
		if !ok {
			place = "fettle"
		}
		out.Printf("%s  %s  %s\n", term.Clean(place), label, term.Clean(p.Msg))
		for line := range strings.SplitSeq(p.Excerpt, "\n") {
			if line != "" {
				out.Printf("  %s\n", style.Dim(term.Clean(line)))
			}
		}
	}
}

// checked sums the problems up: a failure where there are errors.
func checked(rt *workbench.Runtime, out configCheckJSON, output string) error {
	sum := counted(out.Errors, "error") + ", " + counted(out.Warnings, "warning")
	switch {
	case out.Errors > 0:
		f := fault.New(fault.Config, sum)
		for _, p := range out.Problems {
			if p.Hint != "" && p.Severity == "error" {
				f.Remedies = append(f.Remedies, fault.Run(p.Hint))
				break
			}
		}
		return f
	case output == "json":
	case out.Warnings > 0:
		rt.Notice(sum)
	case len(out.Files) == 0:
		rt.Notice("no problems: there is no file, and the defaults are in force")
	default:
		rt.Notice("no problems in " + strings.Join(out.Files, ", "))
	}
	return nil
}

// counted is a number of things: "1 error", "2 errors".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
