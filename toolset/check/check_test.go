package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open makes a toolset whose manifest ends in some lines, and opens it.
func open(t *testing.T, tests string) (*bundle.Bundle, *manifest.Manifest) {
	t.Helper()
	dir := t.TempDir()
	text := `manifest_version: "1"
id: demo
name: Demo
version: "1.0.0"
description: A demo.
tools:
  - {id: copy, description: Copies., entrypoint: "tools.t:copy", input_schema: {type: object}}
  - {id: typed, description: Typed., entrypoint: "tools.t:typed", input_schema: {type: object}, output_schema: {type: object, required: [n], properties: {n: {type: integer}}}}
  - {id: slow, description: Slow., entrypoint: "tools.t:slow", input_schema: {type: object}, timeout: 200ms}
tests:
` + tests
	for name, content := range map[string]string{"toolset.yaml": text, "tools/t.py": "# nothing is run here\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := bundle.OpenFolder(t.Context(), dir, bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() }) // a folder, of which nothing is open
	d := manifest.Parse("toolset.yaml", []byte(text), manifest.Options{})
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	return b, d.Manifest
}

// tools are real runners in Go: each does what its name says.
func tools(_ *manifest.Manifest, tool manifest.Tool, dir string) (toolset.Runner, error) {
	if _, err := os.Stat(filepath.Join(dir, "tools", "t.py")); err != nil {
		return nil, err
	}
	switch tool.ID {
	case "copy":
		return toolset.RunnerFunc(copyTool), nil
	case "typed":
		return toolset.RunnerFunc(func(_ context.Context, call toolset.Call) (toolset.Result, error) {
			return toolset.Result{Data: call.Args}, nil
		}), nil
	case "slow":
		return toolset.RunnerFunc(func(ctx context.Context, _ toolset.Call) (toolset.Result, error) {
			<-ctx.Done()
			return toolset.Result{}, ctx.Err()
		}), nil
	}
	return nil, fmt.Errorf("nobody runs %s", tool.ID)
}

func copyTool(_ context.Context, call toolset.Call) (toolset.Result, error) {
	var args struct{ From, To, Remove, Say, Link string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return toolset.Result{}, err
	}
	root := call.Workspace.Root
	if args.Remove != "" {
		if err := root.Remove(args.Remove); err != nil {
			return toolset.Result{}, err
		}
	}
	if args.Link != "" {
		if err := root.Symlink(args.Link, "link"); err != nil {
			return toolset.Result{}, err
		}
	}
	if args.From == "" {
		return toolset.Result{Text: args.Say}, nil
	}
	raw, err := root.ReadFile(args.From)
	if err != nil {
		return toolset.Result{}, &toolset.ToolError{Message: "there is no " + args.From, Traceback: "tools/t.py:7\n  open(name)"}
	}
	if err := root.WriteFile(args.To, raw, 0o644); err != nil {
		return toolset.Result{}, err
	}
	data, err := json.Marshal(map[string]any{"written": args.To, "size": len(raw), "list": []any{1, map[string]int{"a": 1, "b": 2}}})
	return toolset.Result{Data: data}, err
}

func TestRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		test string
		want []string // the mismatches, or the reason
	}{
		"all as expected":                         {`{tool: copy, args: {from: a/b.txt, to: c.txt}, files: {a/b.txt: hello}, expect: {return: {size: 5}, files: {c.txt: hello, a/b.txt: hello}, absent: [d.txt]}}`, nil},
		"nothing expected but success":            {`{tool: copy, args: {say: hi}}`, nil},
		"fields inside fields":                    {`{tool: copy, args: {from: a, to: c}, files: {a: x}, expect: {return: {list: [1.0, {b: 2}]}}}`, nil},
		"a text":                                  {`{tool: copy, args: {say: hi}, expect: {return: hi}}`, nil},
		"a text as what renderers see":            {`{tool: copy, args: {say: hi}, expect: {return: {text: hi}}}`, nil},
		"a failure":                               {`{tool: copy, args: {from: x, to: c}, expect: {error: "no x"}}`, nil},
		"a file that goes":                        {`{tool: copy, args: {remove: a}, files: {a: x}, expect: {absent: [a]}}`, nil},
		"another value":                           {`{tool: copy, args: {from: a, to: c}, files: {a: x}, expect: {return: {size: 2}}}`, []string{"return/size: it is 1, and 2 was expected"}},
		"a field that isn't there":                {`{tool: copy, args: {from: a, to: c}, files: {a: x}, expect: {return: {sise: 1}}}`, []string{"return/sise: it isn't there"}},
		"another length":                          {`{tool: copy, args: {from: a, to: c}, files: {a: x}, expect: {return: {list: [1]}}}`, []string{`return/list: it is [1,{"a":1,"b":2}], and [1] was expected`}},
		"another text":                            {`{tool: copy, args: {say: hi}, expect: {return: ho}}`, []string{"return: another text is returned"}},
		"an object for a text":                    {`{tool: copy, args: {from: a, to: c}, files: {a: x}, expect: {return: ho}}`, []string{`return: it is {"list":[1,{"a":1,"b":2}],"size":1,"written":"c"}, and "ho" was expected`}},
		"success for a failure":                   {`{tool: copy, args: {say: hi}, expect: {error: no}}`, []string{"error: it was expected to fail, and it succeeded"}},
		"a failure for success":                   {`{tool: copy, args: {from: x, to: c}}`, []string{"error: it failed: there is no x"}},
		"another failure":                         {`{tool: copy, args: {from: x, to: c}, expect: {error: "no y"}}`, []string{"error: it failed in another way"}},
		"another file":                            {`{tool: copy, args: {from: a, to: c}, files: {a: x}, expect: {files: {c: y, d: z}}}`, []string{"file c: it has another text", "file d: it isn't there"}},
		"a file that stays":                       {`{tool: copy, args: {say: hi}, files: {a: x}, expect: {absent: [a]}}`, []string{"file a: it is there, and should not be"}},
		"a file outside is not read":              {`{tool: copy, args: {link: /etc/passwd}, expect: {files: {link: x}}}`, []string{"file link: it can't be read: "}},
		"a schema that is kept":                   {`{tool: typed, args: {n: 1}, expect: {return: {n: 1}}}`, nil},
		"a schema that isn't":                     {`{tool: typed, args: {n: one}}`, []string{`output_schema: what is returned doesn't fit output_schema: /n: `}},
		"a tool that takes too long":              {`{tool: slow}`, []string{"error: it failed: it took longer than 200ms"}},
		"a tool that is expected to take so long": {`{tool: slow, expect: {error: took longer}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			b, m := open(t, "  - "+tt.test+"\n")
			results, err := Run(t.Context(), b, m, Options{Runner: tools, TempDir: temp})
			if err != nil || len(results) != 1 {
				t.Fatalf("%v, %v", results, err)
			}
			var got []string
			for _, m := range results[0].Mismatches {
				got = append(got, m.What+": "+m.Message)
			}
			same := slices.EqualFunc(got, tt.want, func(g, w string) bool { return strings.HasPrefix(g, w) })
			if !same || (results[0].Status == Passed) != (len(tt.want) == 0) {
				t.Errorf("%s %q %s, want %q", results[0].Status, got, results[0].Reason, tt.want)
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestMismatchesHaveBothSidesAndTheTraceback(t *testing.T) {
	t.Parallel()
	b, m := open(t, `  - {tool: copy, args: {from: a, to: c}, files: {a: x}, expect: {files: {c: y}}}
  - {name: fails, tool: copy, args: {from: no, to: c}}
`)
	results, err := Run(t.Context(), b, m, Options{Runner: tools})
	if err != nil || len(results) != 2 {
		t.Fatal(results, err)
	}
	if m := results[0].Mismatches[0]; m.Want == nil || *m.Want != "y" || m.Got == nil || *m.Got != "x" {
		t.Errorf("%+v", m)
	}
	if r := results[1]; r.Name != "fails" || !strings.Contains(r.Traceback, "tools/t.py:7") {
		t.Errorf("%+v", r)
	}
}

func TestAToolThatCantBeRunIsBroken(t *testing.T) {
	t.Parallel()
	b, m := open(t, "  - {tool: copy}\n  - {tool: typed, args: {n: 1}}\n")
	results, err := Run(t.Context(), b, m, Options{Runner: func(_ *manifest.Manifest, tool manifest.Tool, dir string) (toolset.Runner, error) {
		if tool.ID == "copy" {
			return nil, errors.New("there is no interpreter")
		}
		return tools(nil, tool, dir)
	}})
	if err != nil || results[0].Status != Broken || results[0].Reason != "there is no interpreter" || results[1].Status != Passed {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestSelectionAndNames(t *testing.T) {
	t.Parallel()
	b, m := open(t, "  - {name: first one, tool: copy}\n  - {tool: typed, args: {n: 1}}\n  - {tool: copy}\n")
	var names []string
	results, err := Run(t.Context(), b, m, Options{Runner: tools, Select: regexp.MustCompile("typed|test 3")})
	for _, r := range results {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, "; "); err != nil || got != "typed, test 2; copy, test 3" {
		t.Errorf("%s, %v", got, err)
	}
	if got := Selected(m, regexp.MustCompile("nothing")); len(got) != 0 {
		t.Errorf("selected %v", got)
	}
}

// closing counts how often it is made and closed, and how many calls there are
// at once.
type closing struct {
	made, closed, now, most atomic.Int32
	hold                    time.Duration
}

func (c *closing) Run(context.Context, toolset.Call) (toolset.Result, error) {
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	time.Sleep(c.hold)
	c.now.Add(-1)
	return toolset.Result{Text: "ok"}, nil
}

func (c *closing) Close() error { c.closed.Add(1); return nil }

func TestJobsRunSideBySideInOrder(t *testing.T) {
	b, m := open(t, strings.Repeat("  - {tool: copy}\n", 12))
	synctest.Test(t, func(t *testing.T) {
		c := &closing{hold: time.Second}
		var mu sync.Mutex
		told := 0
		results, err := Run(t.Context(), b, m, Options{Jobs: 3, Runner: func(*manifest.Manifest, manifest.Tool, string) (toolset.Runner, error) {
			c.made.Add(1)
			return c, nil
		}, Done: func(Result) { mu.Lock(); told++; mu.Unlock() }})
		if err != nil || len(results) != 12 || told != 12 {
			t.Fatalf("%d results, %d told, %v", len(results), told, err)
		}
		for i, r := range results {
			if r.Index != i || r.Status != Passed || r.DurationMS != 1000 {
				t.Errorf("%+v", r)
			}
		}
		if c.made.Load() != 1 || c.closed.Load() != 1 || c.most.Load() != 3 {
			t.Errorf("made %d, closed %d, at once %d", c.made.Load(), c.closed.Load(), c.most.Load())
		}
	})
}

func TestAnEndedContextStopsTests(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	b, m := open(t, strings.Repeat("  - {tool: slow}\n", 30))
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{}, 30)
	go func() { <-started; cancel() }()
	results, err := Run(ctx, b, m, Options{Jobs: 2, TempDir: temp, Runner: func(_ *manifest.Manifest, tool manifest.Tool, dir string) (toolset.Runner, error) {
		return toolset.RunnerFunc(func(ctx context.Context, call toolset.Call) (toolset.Result, error) {
			started <- struct{}{}
			<-ctx.Done()
			return toolset.Result{}, ctx.Err()
		}), nil
	}})
	if !errors.Is(err, context.Canceled) || len(results) > 0 {
		t.Errorf("%d results, %v", len(results), err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSameNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b json.Number
		same bool
	}{
		{"1", "1.0", true}, {"100", "1e2", true}, {"9007199254740993", "9007199254740992", false}, {"0.1", "0.10", true},
		{"1", "2", false}, {"1e999", "1e998", false}, {json.Number(strings.Repeat("9", 2000)), json.Number(strings.Repeat("9", 1999)), false},
	} {
		if got := sameNumber(tt.a, tt.b); got != tt.same {
			t.Errorf("%.20s, %.20s: %v", tt.a, tt.b, got)
		}
	}
}
