package author

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cireport"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/check"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/validate"
)

type toolsetTestOptions struct {
	ref     string
	run     *regexp.Regexp
	pattern string
	jobs    int
	timeout time.Duration
	output  string
}

const toolsetTestDescription = `PATH is a toolset's folder or a packed one; - is one on standard input. Each of
the tests in its toolset.yaml calls one tool in an empty folder of its own, with
the files that the test gives it, and compares what is returned and which files
there are then. The exit status is 0 if all pass, 1 if one doesn't, and 2 if
there is nothing to run.`

func testFormats() []string { return []string{"text", "json", "github", "junit"} }

// mostJobs bounds -j: each job is a process or more.
const mostJobs = 64

func newToolsetTest(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "test",
		Usage:       "run the tests of a toolset",
		ArgsUsage:   "PATH",
		Description: toolsetTestDescription,
		UsageText:   "fettle toolset test my-tools\nfettle toolset test my-tools --run count -j 1",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "only tests in whose name or tool the regular expression `PATTERN` is found"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "run `N` tests at once (default: as many as there are processors, up to 4)"},
			&cli.DurationFlag{Name: "timeout", Value: check.DefaultTimeout, Usage: "end a call after `DURATION`, where the tool has no timeout of its own"},
			ciFormats(testFormats()...),
		},
		Action: func(c *cli.Context) error {
			o, err := toolsetTestOptionsOf(c)
			if err != nil {
				return err
			}
			runner, err := rt.ToolRunner()
			if err != nil {
				return err
			}
			return runToolsetTest(c.Context, rt, o, runner)
		},
	}
}

func toolsetTestOptionsOf(c *cli.Context) (toolsetTestOptions, error) {
	const path = "fettle toolset test"
	o := toolsetTestOptions{
		ref: c.Args().First(), pattern: c.String("run"), jobs: c.Int("jobs"), timeout: c.Duration("timeout"), output: c.String("output"),
	}
	switch {
	case c.NArg() != 1 || o.ref == "":
		return o, cmdline.Usagef(path+" .", "toolset test wants one folder or file")
	case o.jobs < 0 || o.jobs > mostJobs:
		return o, cmdline.Usagef(path+" -j 4 .", "--jobs is a number from 1 to %d, and 0 leaves it to fettle", mostJobs)
	case o.timeout <= 0:
		return o, cmdline.Usagef(path+" --timeout 30s .", "--timeout must be longer than nothing")
	}
	if o.pattern != "" {
		re, err := regexp.Compile(o.pattern)
		if err != nil {
			return o, cmdline.Usagef(path+" --run count .", "--run %s is no regular expression: %s", strconv.Quote(o.pattern), strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		o.run = re
	}
	return o, checkFormat(o.output, path, testFormats()...)
}

// testedJSON is what `toolset test --output json` prints.
type testedJSON struct {
	SchemaVersion int            `json:"schema_version"`
	OK            bool           `json:"ok"`
	Bundle        string         `json:"bundle"`
	ID            string         `json:"id"`
	Version       string         `json:"version"`
	Passed        int            `json:"passed"`
	Failed        int            `json:"failed"`
	Broken        int            `json:"broken"`
	Tests         []check.Result `json:"tests"`
}

// tested is one run of tests.
type tested struct {
	bundlePlace
	doc     *manifest.Document
	results []check.Result
}

func (t tested) count(s check.Status) int {
	n := 0
	for _, r := range t.results {
		if r.Status == s {
			n++
		}
	}
	return n
}

func runToolsetTest(ctx context.Context, rt *workbench.Runtime, o toolsetTestOptions, runner check.RunnerFor) (err error) {
	a := &author{rt: rt}
	b, err := a.open(ctx, o.ref)
	if err != nil {
		return refusedFault(o.ref, err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	t := tested{bundlePlace: placeOf(o.ref)}
	if t.doc, err = testable(o.ref, b); err != nil {
		return err
	}
	m := t.doc.Manifest
	chosen := check.Selected(m, o.run)
	if len(chosen) == 0 && len(m.Tests) > 0 {
		return cmdline.Usagef("", "--run %s finds none of the %s", strconv.Quote(o.pattern), term.Count(len(m.Tests), "test", "tests"))
	}
	status := rt.Streams.Status()
	defer status.Clear()
	done := 0
	status.Set(fmt.Sprintf("running %s", term.Count(len(chosen), "test", "tests")))
	t.results, err = check.Run(ctx, b, m, check.Options{
		Runner: runner, Select: o.run, Jobs: o.jobs, Timeout: o.timeout, Temporaries: rt.Temporaries(),
		Done: func(r check.Result) {
			done++
			status.Set(fmt.Sprintf("%d of %d done, the last %s", done, len(chosen), term.Clean(r.Name)))
		},
	})
	status.Clear()
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fault.Wrap(fault.Failed, "test "+o.ref, err)
	}
	if err := a.printTests(t, o); err != nil {
		return err
	}
	if t.count(check.Passed) < len(t.results) {
		return workbench.ExitError{Status: 1}
	}
	return nil
}

// refusedFault is the failure of a command that can't go on with a bundle that
// is refused.
func refusedFault(ref string, err error) error {
	if r := validate.Refused(err); r != nil {
		f := r.Findings[0]
		return fault.New(fault.Failed, placeOf(ref).shown(f.File)+": "+f.Message, fault.Run("fettle toolset validate "+cmdline.ShellWord(ref)))
	}
	return err
}

// testable reads the manifest, which has to be one that can be used.
func testable(ref string, b *bundle.Bundle) (*manifest.Document, error) {
	if b.Kind != bundle.Toolset {
		return nil, cmdline.Usagef("", "%s has no toolset.yaml, and so no tests", term.Clean(ref))
	}
	raw, err := b.Manifest()
	if err != nil {
		return nil, refusedFault(ref, err)
	}
	d := manifest.Parse(manifest.FileName, raw, manifest.Options{Builtins: builtinIDs()})
	if err := d.Err(); err != nil {
		return nil, &fault.Fault{
			Code: fault.Failed, Msg: placeOf(ref).shown("") + " has a manifest that can't be used, so nothing was run",
			Detail: []string{err.Error()}, Remedies: []fault.Remedy{fault.Run("fettle toolset validate " + cmdline.ShellWord(ref))}, Err: err,
		}
	}
	return d, nil
}

func (a *author) printTests(t tested, o toolsetTestOptions) error {
	out, m := a.rt.Streams.Out, t.doc.Manifest
	passed, failed, broken := t.count(check.Passed), t.count(check.Failed), t.count(check.Broken)
	switch o.output {
	case "json":
		return workbench.PrintJSON(a.rt, testedJSON{
			SchemaVersion: workbench.OutputVersion, OK: passed == len(t.results), Bundle: t.ref, ID: m.ID, Version: m.Version,
			Passed: passed, Failed: failed, Broken: broken, Tests: t.results,
		})
	case "junit":
		return cireport.JUnit(out, "fettle toolset test", []cireport.Suite{a.testSuite(t)})
	case "github":
		if err := cireport.GitHub(out, a.testFindings(t)); err != nil {
			return err
		}
	default:
		for _, r := range t.results {
			out.WriteString(testText(out, r))
		}
	}
	out.Printf("%s\n", testSummary(t))
	return nil
}

func testSummary(t tested) string {
	if len(t.results) == 0 {
		return t.doc.Manifest.ID + " has no tests"
	}
	parts := []string{fmt.Sprintf("%d passed", t.count(check.Passed))}
	if n := t.count(check.Failed); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := t.count(check.Broken); n > 0 {
		parts = append(parts, fmt.Sprintf("%d could not be run", n))
	}
	return strings.Join(parts, ", ")
}

// testText is one test, and below it what came out otherwise.
func testText(out *term.Output, r check.Result) string {
	style := out.Style()
	mark := style.Green("✓")
	if r.Status != check.Passed {
		mark = style.Red("✗")
	}
	var b strings.Builder
	b.WriteString(mark + " " + term.Clean(r.Name) + "  " + style.Dim(term.Duration(time.Duration(r.DurationMS)*time.Millisecond)) + "\n")
	indent := func(text string) {
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimRight("    "+term.Clean(strings.TrimRight(line, "\n")), " ") + "\n")
		}
	}
	if r.Reason != "" {
		indent("it could not be run: " + r.Reason)
	}
	for _, m := range r.Mismatches {
		indent(m.What + ": " + m.Message)
		indent(difference(m))
	}
	indent(r.Traceback)
	return b.String()
}

// difference shows both sides of a mismatch, where its message doesn't.
func difference(m check.Mismatch) string {
	switch {
	case m.Want == nil || strings.HasPrefix(m.What, "return/") && *m.Got != "":
		return ""
	case !strings.Contains(*m.Want+*m.Got, "\n"):
		return "  expected  " + *m.Want + "\n  got       " + *m.Got
	}
	_, text, _ := strings.Cut(string(diff.Diff("expected", []byte(*m.Want), "got", []byte(*m.Got))), "\n")
	return strings.TrimRight(text, "\n")
}

// testPlace is where a test is written, as CI takes it.
func (a *author) testPlace(t tested, r check.Result) (path string, line, column int) {
	path, inside := t.onDisk(manifest.FileName)
	if path = a.inRepository(path); inside {
		line, column = t.doc.At("/tests/" + strconv.Itoa(r.Index))
	}
	return path, line, column
}

// outcome is what came of a test, as text: what came out otherwise, or why it
// could not be run.
func outcome(r check.Result) string {
	lines := []string{}
	if r.Reason != "" {
		lines = append(lines, "it could not be run: "+r.Reason)
	}
	for _, m := range r.Mismatches {
		lines = append(lines, m.What+": "+m.Message)
		if text := difference(m); text != "" {
			lines = append(lines, text)
		}
	}
	if r.Traceback != "" {
		lines = append(lines, r.Traceback)
	}
	return strings.Join(lines, "\n")
}

func (a *author) testFindings(t tested) []cireport.Finding {
	var out []cireport.Finding
	for _, r := range t.results {
		if r.Status == check.Passed {
			continue
		}
		f := cireport.Finding{Level: cireport.Error, Code: r.Name, Message: outcome(r)}
		f.Path, f.Line, f.Column = a.testPlace(t, r)
		out = append(out, f)
	}
	return out
}

func (a *author) testSuite(t tested) cireport.Suite {
	s := cireport.Suite{Name: t.doc.Manifest.ID}
	for _, r := range t.results {
		c := cireport.Case{Name: r.Name, Class: t.doc.Manifest.ToolID(r.Tool), Seconds: float64(r.DurationMS) / 1000}
		c.File, c.Line, _ = a.testPlace(t, r)
		switch r.Status {
		case check.Failed:
			first := r.Mismatches[0]
			c.Failure = &cireport.Trouble{Type: first.What, Message: first.Message, Text: outcome(r)}
		case check.Broken:
			c.Error = &cireport.Trouble{Type: string(check.Broken), Message: r.Reason, Text: outcome(r)}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}
