package author

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cireport"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/validate"
)

type toolsetValidateOptions struct {
	refs   []string
	strict bool
	output string
}

const toolsetValidateDescription = `Each PATH is a toolset's folder or a packed one; - is one on standard input.
Nothing of it is run, and no Python is needed.

An error keeps the toolset, or a tool of it, from working; a warning is for you
to judge; a note is worth knowing. The exit status is 0 if there is no error,
1 if there is one (with --strict also for a warning), and 2 if there is nothing
to read.

-o github prints annotations, sarif and junit what other CI reads. Their paths
are relative to the repository.`

func validateFormats() []string { return []string{"text", "json", "github", "sarif", "junit"} }

func newToolsetValidate(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "validate",
		Usage:       "find what is wrong with toolsets",
		ArgsUsage:   "PATH…",
		Description: toolsetValidateDescription,
		UsageText: "fettle toolset validate my-tools\nfettle toolset validate --strict my-tools my-tools.zip\n" +
			"fettle toolset validate - < my-tools.zip\nfettle toolset validate my-tools -o sarif > findings.sarif",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "let warnings count as errors do"},
			ciFormats(validateFormats()...),
		},
		Action: func(c *cli.Context) error {
			const path = "fettle toolset validate"
			o := toolsetValidateOptions{refs: c.Args().Slice(), strict: c.Bool("strict"), output: c.String("output")}
			if len(o.refs) == 0 {
				return cmdline.Usagef(path+" .", "toolset validate wants a folder or a file")
			}
			if err := errors.Join(checkFormat(o.output, path, validateFormats()...), onlyOnce(o.refs)); err != nil {
				return err
			}
			return runToolsetValidate(c.Context, rt, o)
		},
	}
}

// validatedJSON is what `toolset validate --output json` prints.
type validatedJSON struct {
	SchemaVersion int  `json:"schema_version"`
	OK            bool `json:"ok"`
	Strict        bool `json:"strict,omitempty"`
	Errors        int  `json:"errors"`
	Warnings      int  `json:"warnings"`
	Notes         int  `json:"notes"`

	Bundles []validatedBundle `json:"bundles"`
}

// validatedBundle is one of the bundles.
type validatedBundle struct {
	Bundle string `json:"bundle"`
	OK     bool   `json:"ok"`
	validate.Report
	Findings []validatedFinding `json:"findings"`
}

// validatedFinding is a finding, and the path of its file from the repository's
// root, where it is a file of the disk.
type validatedFinding struct {
	validate.Finding
	Path string `json:"path,omitempty"`
}

// judged is one bundle and the report on it.
type judged struct {
	bundlePlace
	report *validate.Report
}

func runToolsetValidate(ctx context.Context, rt *workbench.Runtime, o toolsetValidateOptions) error {
	a := &author{rt: rt}
	var all []judged
	failed := false
	for _, ref := range o.refs { // what can't be read is told before anything is judged
		if ref != stdinRef {
			if err := mustBeThere(ref); err != nil {
				return err
			}
		}
	}
	for _, ref := range o.refs {
		r, err := a.judge(ctx, ref)
		if err != nil {
			return err
		}
		all = append(all, judged{placeOf(ref), r})
		failed = failed || r.Counts(o.strict) > 0
	}
	if err := a.print(all, o); err != nil {
		return err
	}
	if failed {
		return workbench.ExitError{Status: 1}
	}
	return nil
}

// judge opens one bundle and judges it.
func (a *author) judge(ctx context.Context, ref string) (*validate.Report, error) {
	b, err := a.open(ctx, ref)
	if err != nil {
		if r := validate.Refused(err); r != nil {
			return r, nil
		}
		return nil, err
	}
	r, err := validate.Bundle(ctx, b, validate.Options{Builtins: builtinIDs()})
	if err = errors.Join(err, b.Close()); err != nil {
		return nil, err
	}
	return r, nil
}

func (a *author) print(all []judged, o toolsetValidateOptions) error {
	out := a.rt.Streams.Out
	switch o.output {
	case "json":
		return workbench.PrintJSON(a.rt, a.asJSON(all, o))
	case "sarif":
		return cireport.SARIF(out, fettleTool(a.rt), a.findings(all))
	case "junit":
		return cireport.JUnit(out, "fettle toolset validate", a.suites(all, o.strict))
	case "github":
		if err := cireport.GitHub(out, a.findings(all)); err != nil {
			return err
		}
		out.Printf("%s\n", findingsSummary(all))
		return nil
	}
	a.printFindings(out, all)
	if len(all) == 1 && len(all[0].report.Findings) == 0 {
		out.Printf("%s\n", fine(all[0]))
	} else {
		out.Printf("%s\n", findingsSummary(all))
	}
	return nil
}

func fettleTool(rt *workbench.Runtime) cireport.Tool {
	return cireport.Tool{Name: "fettle", Version: rt.Build().Version, URI: "https://github.com/fettle-cli/fettle"}
}

func (a *author) asJSON(all []judged, o toolsetValidateOptions) validatedJSON {
	out := validatedJSON{SchemaVersion: workbench.OutputVersion, OK: true, Strict: o.strict, Bundles: []validatedBundle{}}
	for _, j := range all {
		b := validatedBundle{Bundle: j.ref, OK: j.report.Counts(o.strict) == 0, Report: *j.report, Findings: []validatedFinding{}}
		for _, f := range j.report.Findings {
			path, inside := j.onDisk(f.File)
			one := validatedFinding{Finding: f}
			if inside {
				one.Path = a.inRepository(path)
			}
			b.Findings = append(b.Findings, one)
		}
		out.OK = out.OK && b.OK
		out.Errors, out.Warnings, out.Notes = out.Errors+j.report.Errors, out.Warnings+j.report.Warnings, out.Notes+j.report.Notes
		out.Bundles = append(out.Bundles, b)
	}
	return out
}

// findings are all findings as CI takes them.
func (a *author) findings(all []judged) []cireport.Finding {
	var out []cireport.Finding
	for _, j := range all {
		for _, f := range j.report.Findings {
			out = append(out, a.finding(j.bundlePlace, f))
		}
	}
	return out
}

func (a *author) finding(p bundlePlace, f validate.Finding) cireport.Finding {
	path, inside := p.onDisk(f.File)
	one := cireport.Finding{Path: a.inRepository(path), Level: string(f.Level), Code: f.Code, Message: f.Message, Help: f.Help}
	switch {
	case inside:
		one.Line, one.Column = f.Line, f.Column
	case f.File != "": // inside an archive
		one.Message = location(f.File, f.Line, f.Column) + ": " + one.Message
	}
	return one
}

func location(file string, line, column int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(column)
}

// suites are the bundles for JUnit: a case for each finding that counts, and
// one for a bundle that has none.
func (a *author) suites(all []judged, strict bool) []cireport.Suite {
	var out []cireport.Suite
	for _, j := range all {
		s := cireport.Suite{Name: j.shown("")}
		var others []string
		for _, f := range j.report.Findings {
			c := a.finding(j.bundlePlace, f)
			if f.Level != validate.Error && (f.Level != validate.Warning || !strict) {
				others = append(others, fmt.Sprintf("%s: %s: %s", location(j.shown(f.File), f.Line, f.Column), f.Level, f.Message))
				continue
			}
			text := location(j.shown(f.File), f.Line, f.Column) + ": " + string(f.Level) + ": " + f.Message
			if f.Help != "" {
				text += "\n" + f.Help
			}
			s.Cases = append(s.Cases, cireport.Case{
				Name: f.Code + " " + location(j.shown(f.File), f.Line, f.Column), Class: s.Name, File: c.Path, Line: c.Line,
				Failure: &cireport.Trouble{Type: f.Code, Message: f.Message, Text: text},
			})
		}
		if len(s.Cases) == 0 {
			s.Cases = []cireport.Case{{Name: "validates", Class: s.Name, Output: strings.Join(others, "\n")}}
		} else {
			s.Cases[0].Output = strings.Join(others, "\n")
		}
		out = append(out, s)
	}
	return out
}

// widestPlace is how wide the column of places may become; a longer one stands
// on a line of its own.
const widestPlace = 44

// printFindings prints findings as a compiler does.
func (a *author) printFindings(out *term.Output, all []judged) {
	style, screen := out.Style(), out.Width()
	width := 0
	each := func(do func(at string, f validate.Finding)) {
		for _, j := range all {
			for _, f := range j.report.Findings {
				do(term.Clean(location(j.shown(f.File), f.Line, f.Column)), f)
			}
		}
	}
	each(func(at string, _ validate.Finding) {
		if n := term.Cells(at); n <= widestPlace {
			width = max(width, n)
		}
	})
	var b strings.Builder
	each(func(at string, f validate.Finding) {
		level := levelStyle(style, f.Level)(fmt.Sprintf("%-7s", f.Level))
		indent := width + 2 + 7 + 2
		if screen > 0 && screen-indent < 30 { // no room for a column of messages
			b.WriteString(at + "  " + strings.TrimRight(level, " ") + "\n")
			for _, line := range term.Wrap(f.Message, screen-2) {
				b.WriteString("  " + line + "\n")
			}
			return
		}
		head := at + strings.Repeat(" ", max(width-term.Cells(at), 0))
		if term.Cells(at) > width {
			head = at + "\n" + strings.Repeat(" ", width)
		}
		b.WriteString(head + "  " + level + "  ")
		lines := []string{f.Message}
		if screen > 0 {
			lines = term.Wrap(f.Message, screen-indent)
		}
		b.WriteString(strings.Join(lines, "\n"+strings.Repeat(" ", indent)) + "\n")
	})
	out.WriteString(b.String())
}

func levelStyle(s term.Style, l validate.Level) func(string) string {
	switch l {
	case validate.Error:
		return s.Red
	case validate.Warning:
		return s.Yellow
	}
	return s.Dim
}

// findingsSummary is "1 error, 2 warnings", and of how many bundles.
func findingsSummary(all []judged) string {
	errs, warnings, notes := 0, 0, 0
	for _, j := range all {
		errs, warnings, notes = errs+j.report.Errors, warnings+j.report.Warnings, notes+j.report.Notes
	}
	parts := []string{}
	if errs > 0 {
		parts = append(parts, term.Count(errs, "error", "errors"))
	}
	if warnings > 0 {
		parts = append(parts, term.Count(warnings, "warning", "warnings"))
	}
	if errs+warnings == 0 {
		parts = append(parts, "no errors")
	}
	if notes > 0 {
		parts = append(parts, term.Count(notes, "note", "notes"))
	}
	text := strings.Join(parts, ", ")
	if len(all) > 1 {
		text += " in " + term.Count(len(all), "toolset", "toolsets")
	}
	return text
}

// fine says of a bundle without findings what it is.
func fine(j judged) string {
	r := j.report
	name := j.shown("")
	if r.ID != "" {
		name = r.ID + " " + r.Version
	}
	parts := []string{}
	if m := r.Manifest; m != nil {
		for _, n := range []struct {
			n         int
			one, many string
		}{
			{len(m.Tools), "tool", "tools"}, {len(m.MCPServers), "MCP server", "MCP servers"}, {len(m.Agents), "agent", "agents"},
			{len(m.Payloads), "payload", "payloads"}, {len(m.Tests), "test", "tests"},
		} {
			if n.n > 0 {
				parts = append(parts, term.Count(n.n, n.one, n.many))
			}
		}
	}
	parts = append(parts, term.Count(r.Files, "file", "files"), term.Size(r.Bytes))
	return term.Clean(name) + " is fine: " + strings.Join(parts, ", ")
}

// manifestKinds are the manifests of all kinds of bundles.
func manifestKinds() []bundle.Kind { return []bundle.Kind{bundle.Toolset, bundle.MCPB, bundle.Skill} }

func isManifestFile(base string) bool {
	return slices.ContainsFunc(manifestKinds(), func(k bundle.Kind) bool { return k.ManifestFile() == base })
}
