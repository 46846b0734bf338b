package pysource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// tricky is Python that a reader of lines would misread.
const tricky = `# -*- coding: utf-8 -*-
"""A module.

def not_a_function(): pass
"""
from __future__ import annotations
import os, sys as system
from . import (a, b as c,)
from ..pkg.mod import run as go_on
try:
    import fast
except ImportError as e:
    fast = None
x: int = 1; y = z = 2
first, (second, *others) = 1, (2, 3)
obj.attr = 1; things[0] = 2; call().field = 3
if (n := 10) > 5: k = {"a": lambda q, r=1: q}
def run(workspace, /, name: str = "):", *rest: int, flag: bool = (lambda v, w: v)(1, 2), **kwargs) -> dict["str", int]:
    text = f"{name!r:>{10}} {'}' + "{"} {{not}} \N{EN DASH} {x:%H:%M}"
    def inner():
        yield 1
    key = os.environ["API_KEY"] or os.environ.get('OTHER') or os.getenv("THIRD", "")
    return {}
@wraps(run)
@other
async def streamed(workspace, *, a, b=[1,
        2, 3], c = {
    "d": 1}):
	yield a
class Thing(Base, metaclass=Meta): value = 1
def two(a, b): return a + \
    b
match command:
    case [one, 2] if one: matched = 1
    case Point(x=0): pass
match = 5
match.x = 3; case = {1: 2}; type = 3
print(match [1:2], case)
type Alias[T] = list[T]
def generic[T: (int, str)](value: T) -> T: return value
for i, (j, _) in enumerate([]): pass
else: done = True
with open(p) as f, open(q) as (g, h): pass
with (open(p) as f2, open(q) as g2): body = 1
def gl():
    global later
    later = 1
1if x else 2
été = "é"
`

func TestParse(t *testing.T) {
	t.Parallel()
	m, err := Parse([]byte(tricky))
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq("os system a c go_on fast e x y z first second others n k streamed Thing two matched one match case type " +
		"Alias generic i j _ done f g h f2 g2 body gl later été") {
		if _, ok := m.Names[name]; !ok {
			t.Errorf("%s is not bound", name)
		}
	}
	for _, name := range []string{"not_a_function", "inner", "attr", "obj", "things", "call", "value", "key", "text", "b", "q", "r", "field"} {
		if b, ok := m.Names[name]; ok {
			t.Errorf("%s is bound: %+v", name, b)
		}
	}
	run := m.Names["run"].Function
	if got := fmt.Sprint(run.Params); got != "[{workspace 0 false {18 9}} {name 1 true {18 23}} {rest 2 false {18 42}} {flag 3 true {18 53}} {kwargs 4 false {18 92}}]" {
		t.Errorf("run has %s", got)
	}
	if run.Generator || run.Decorated || run.Async || m.Names["run"].Conditional {
		t.Errorf("run is %+v", run)
	}
	if f := m.Names["streamed"].Function; !f.Generator || !f.Decorated || !f.Async || len(f.Params) != 4 || !f.Has(KeywordOnly) {
		t.Errorf("streamed is %+v", f)
	}
	if b := m.Names["fast"]; b.Kind != Assigned || !b.Conditional {
		t.Errorf("fast is %+v", b)
	}
	if got := fmt.Sprint(m.Env); got != "[{API_KEY {22 22}} {OTHER {22 51}} {THIRD {22 73}}]" {
		t.Errorf("the variables are %s", got)
	}
	if got := fmt.Sprint(m.Functions()); got != "[generic gl run streamed two]" {
		t.Errorf("the functions are %s", got)
	}
	if p, ok := run.Param("flag"); !ok || p.Kind != KeywordOnly {
		t.Errorf("flag is %+v", p)
	}
}

func TestParseSeesThatNamesMayBeHidden(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"def __getattr__(name): return 1", "globals()['x'] = 1", "globals().update(a=1)"} {
		if m, err := Parse([]byte(src)); err != nil || !m.Dynamic {
			t.Errorf("%s: %+v, %v", src, m, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const between = "there is nothing between this and what stands before it, such as a comma or an operator"
	for src, want := range map[string]string{
		"def run(:\n  pass":                    "line 1, column 9: expected the name of a parameter",
		"x = (1,\n\ndef f(): pass\n":           "line 1, column 5: this ( is never closed",
		"x = (1,\n\n":                          "line 1, column 5: this ( is never closed",
		"x = (1]":                              "line 1, column 7: this ] can't close the (",
		"x = 1)":                               "line 1, column 6: nothing is open that this ) could close",
		"def f()\n  pass":                      "line 1, column 8: expected : behind the parameters",
		"def f():\npass":                       "line 1, column 8: expected an indented block behind this colon",
		"def f():\n    a = 1\n  b = 2":         "line 3, column 3: the indentation fits no line above",
		"x = 1\n  y = 2":                       "line 2, column 3: the line is indented, and nothing above it opens a block",
		"if x:\n\ta = 1\n        b = 2":        "line 3, column 9: tabs and spaces are mixed so that the indentation depends on the width of a tab",
		"x = 'abc\ny = 1":                      "line 1, column 5: this string is not closed in its line",
		"x = 1\ny = '''abc\n":                  "line 2, column 5: this string is never closed",
		"x = f'{a'":                            "line 1, column 5: this string is never closed",
		"x = f'a}'":                            "line 1, column 5: a } in this string closes nothing; write }}",
		"retrun x":                             "line 1, column 8: " + between,
		"print 'x'":                            "line 1, column 7: " + between,
		"x = {'a': 1 'b': 2}":                  "line 1, column 13: " + between,
		"cost = 5 $":                           "line 1, column 10: a character that has no meaning in Python",
		"def f(a=1, b): pass":                  "line 1, column 12: a parameter without a default can't follow one that has one",
		"def f(a, a): pass":                    "line 1, column 10: two parameters are called a",
		"def f(**k, a): pass":                  "line 1, column 12: nothing can follow **k",
		"def f(*): pass":                       "line 1, column 8: expected a parameter behind *",
		"def f(*, a, *b): pass":                "line 1, column 13: there can be one * among the parameters",
		"def f(/): pass":                       "line 1, column 7: there can be one / among the parameters, behind some and before *",
		"def f(a:): pass":                      "line 1, column 9: expected an expression",
		"def class(): pass":                    "line 1, column 5: expected the name of a function",
		"import":                               "line 1, column 7: expected the name of a module",
		"from x import (a":                     "line 1, column 15: this ( is never closed",
		"while x\n  y":                         "line 1, column 8: expected : at the end of this line",
		"@decorated\nx = 1":                    "line 2, column 1: expected def or class below a decorator",
		"foo bar:\n  x":                        "line 1, column 5: " + between,
		"foo:\n  x":                            "line 1, column 4: this colon ends the line, and nothing in it opens a block",
		"x = \\ 1":                             "line 1, column 5: only a line break may follow a backslash outside of strings",
		"# é\nx = 'é' 1":                       "line 2, column 9: " + between,
		"x = 1\n\x00":                          "line 2, column 1: the source holds a NUL character",
		"x = 1\n# \xff":                        "line 2, column 3: the source is not UTF-8",
		strings.Repeat("(", 300):               "line 1, column 201: there are too many brackets inside each other",
		"x = " + strings.Repeat(`f"{`, 200):    "line 1, column 5: there are too many strings inside each other",
		indented(150):                          "line 101, column 101: there are too many levels of indentation",
		"import " + strings.Repeat("a.", 5000): "line 1, column 20",
	} {
		if _, err := Parse([]byte(src)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q:\n got %v\nwant %s", src, err, want)
		}
	}
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "if x:\n")
	}
	return b.String()
}

// TestNothingPythonTakesIsRefused breaks pieces of the tricky source in a few
// hundred ways, and asks Python which of them are Python still.
func TestNothingPythonTakesIsRefused(t *testing.T) {
	t.Parallel()
	python := needtest.Program(t, "python3")
	base, _, _ := strings.Cut(tricky, "type Alias") // Python of before 3.12 refuses what follows, and this:
	base = strings.Replace(base, `{'}' + "{"}`, "{x}", 1)
	random := rand.New(rand.NewPCG(1, 2))
	sources := []string{base}
	noise := []string{"", "", "\n", " ", ":", "(", ")", ",", "x", "'", "=", "*", "\\", "if ", "lambda: ", "    ", "\t", "1", ".", "f'{x}'", "async ", "as "}
	lines := strings.SplitAfter(base, "\n")
	for i := range 600 {
		from := random.IntN(len(lines) - 1)
		src := strings.Join(lines[from:min(from+1+random.IntN(6), len(lines))], "")
		if i%2 == 0 {
			src = base
		}
		for range 1 + random.IntN(2) {
			at := random.IntN(len(src))
			src = src[:at] + noise[random.IntN(len(noise))] + src[min(at+random.IntN(2), len(src)):]
		}
		sources = append(sources, strings.ToValidUTF8(src, ""))
	}
	good := askPython(t, python, sources)
	taken, missed := 0, 0
	for i, src := range sources {
		_, err := Parse([]byte(src))
		switch {
		case good[i] && err != nil:
			t.Errorf("Python takes what is refused here (%v):\n%s", err, src)
		case good[i]:
			taken++
		case err == nil:
			missed++
		}
	}
	if taken < 50 || !good[0] {
		t.Errorf("Python takes only %d of %d", taken, len(sources))
	}
	t.Logf("Python takes %d of %d; of the others, %d are not found to be broken", taken, len(sources), missed)
}

// askPython tells which sources Python's own parser takes.
func askPython(t *testing.T, python string, sources []string) []bool {
	t.Helper()
	asked, err := json.Marshal(sources)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-I", "-W", "ignore", "-c", `
import ast, json, sys
def good(s):
    try: ast.parse(s)
    except (SyntaxError, ValueError): return False
    return True
print(json.dumps([good(s) for s in json.load(sys.stdin)]))`)
	cmd.Stdin = bytes.NewReader(asked)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ask %s: %v", python, err)
	}
	var good []bool
	if err := json.Unmarshal(out, &good); err != nil || len(good) != len(sources) {
		t.Fatalf("%d answers: %v", len(good), err)
	}
	return good
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(tricky))
	f.Add([]byte("def f(a, *, b=1): yield"))
	f.Add([]byte("x = f'{a!r:{b}}' '''c'''"))
	f.Add([]byte("with (a as b, c as (d, e)): pass"))
	f.Add([]byte("match x:\n case [a, *b]: pass\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Parse(src)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.Place.Line < 1 || e.Place.Column < 1 || e.Place.Line > len(src)+1 {
				t.Fatalf("the place of %v", err)
			}
			return
		}
		for name, b := range m.Names {
			if name == "" || b.Place.Line < 1 || b.Kind == Defined && b.Function == nil || b.Kind == Imported && b.Import == nil {
				t.Errorf("%q is %+v", name, b)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	src := []byte(strings.Repeat(tricky, 100))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}
