package render

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "",
		"plain":                           "plain",
		"$args":                           "<$args>",
		"$args.path":                      "<$args.path>",
		"$return.items.0.name":            "<$return.items.0.name>",
		"$return.a-b":                     "<$return.a-b>",
		"see $args.path.":                 "see |<$args.path>|.",
		"$args.a - $args.b":               "<$args.a>| - |<$args.b>",
		"$args.a-":                        "<$args.a>|-",
		"$args..a":                        "<$args>|..a",
		"$chat_id.x":                      "<$chat_id>|.x",
		"$workspace/$toolset":             "<$workspace>|/|<$toolset>",
		"$arguments $returns $5 $ $":      "$arguments $returns $5 $ $",
		"$$args.path":                     "$args.path",
		"$$$args":                         "$|$args",
		"$$5":                             "$$5",
		"http://localhost:$return.port/x": "http://localhost:|<$return.port>|/x",
		"$args.größe":                     "<$args.größe>",
	} {
		var got []string
		for _, p := range parse(text) {
			if p.ref != nil {
				got = append(got, "<"+p.ref.String()+">")
			} else {
				got = append(got, p.text)
			}
		}
		if text == "$$$args" { // the pieces of text are joined
			want = "$$args"
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%q is %s, want %s", text, joined, want)
		}
	}
}

func values() Values {
	dir := filepath.Join(string(filepath.Separator), "data")
	return Values{
		Args:   json.RawMessage(`{"path":"src/a.py","n":3,"deep":{"list":[1,{"x":"y"}]},"none":null}`),
		Return: json.RawMessage(`{"code":"x = 1\n","port":8123,"big":9007199254740993,"stats":{"rows":1.50},"text":"$args.path"}`),
		ChatID: "01CHAT", Workspace: filepath.Join(dir, "ws"), Toolset: filepath.Join(dir, "ts"),
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	artifact, err := json.Marshal(filepath.Join(values().Toolset, "artifacts", "viz.html"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ renderer, config, want, problem string }{
		"a file":               {"code", `{"file":"$args.path","language":"auto","editable":true}`, `{"editable":true,"file":"src/a.py","language":"auto"}`, ""},
		"a content":            {"code", `{"content":"$return.code"}`, `{"content":"x = 1\n"}`, ""},
		"the whole object":     {"html", `{"artifact":"./artifacts/viz.html","data":"$return.stats"}`, `{"artifact":` + string(artifact) + `,"data":{"rows":1.50}}`, ""},
		"inside data":          {"html", `{"artifact":"artifacts/viz.html","data":{"a":["$args.n","n=$args.n"],"b":true}}`, `{"artifact":` + string(artifact) + `,"data":{"a":[3,"n=3"],"b":true}}`, ""},
		"digits are kept":      {"document", `{"content":"$return.big"}`, `{"content":9007199254740993}`, ""},
		"an object in a text":  {"document", `{"content":"got $args.deep"}`, `{"content":"got {\"list\":[1,{\"x\":\"y\"}]}"}`, ""},
		"null in a text":       {"document", `{"content":"got $args.none."}`, `{"content":"got ."}`, ""},
		"a list's item":        {"document", `{"content":"$args.deep.list.1.x"}`, `{"content":"y"}`, ""},
		"values are no text":   {"document", `{"content":"$return.text"}`, `{"content":"$args.path"}`, ""},
		"the chat":             {"document", `{"content":"$chat_id"}`, `{"content":"01CHAT"}`, ""},
		"a port":               {"frame", `{"url":"http://localhost:$return.port/app"}`, `{"url":"http://localhost:8123/app"}`, ""},
		"nothing there":        {"code", `{"content":"$return.nope","language":"x$args.nope"}`, `{"content":null,"language":"x"}`, "$return.nope isn't there\n$args.nope isn't there"},
		"a path out":           {"code", `{"file":"../$args.path"}`, `{"file":null}`, "file: ../src/a.py is not in the workspace"},
		"a number as a path":   {"code", `{"file":"$args.n"}`, `{"file":null}`, "file: it is no text: 3"},
		"the workspace's path": {"code", `{"file":"$workspace/x.py"}`, `{"file":"x.py"}`, ""},
		"another's folder":     {"code", `{"file":"$toolset/x.py"}`, `{"file":null}`, "file: " + filepath.ToSlash(values().Toolset) + "/x.py is not in the workspace"},
		"an artifact out":      {"html", `{"artifact":"../x.html"}`, `{"artifact":null}`, "artifact: ../x.html is not in the toolset"},
		"a chosen artifact":    {"html", `{"artifact":"artifacts/$args.path"}`, `{"artifact":null}`, "artifact: $args.path may not choose it; it is a file of the toolset"},
		"a chosen host":        {"frame", `{"url":"$args.path"}`, `{"url":null}`, "url: src/a.py: the config itself has to name scheme and host, as in http://localhost:$return.port"},
		"another machine":      {"frame", `{"url":"http://example.com/"}`, `{"url":null}`, "url: http://example.com/ is not on this machine"},
		"no renderer":          {"video", `{}`, `{}`, `unknown renderer "video"; known are code, document, html, table, frame and mcp_app`},
		"no object":            {"code", `[1]`, `{}`, "the renderer's config is no object"},
		"no JSON":              {"code", `{"a":`, `{}`, "the renderer's config can't be used: EOF"},
		"nothing":              {"code", ``, `{}`, "the renderer's config can't be used: it is empty"},
		"too deep":             {"code", strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80), `{}`, "the renderer's config can't be used: it is nested more than 64 levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Make(c.renderer, json.RawMessage(c.config), values())
			if got := string(plan.Config); got != c.want {
				t.Errorf("config %s\nwant   %s", got, c.want)
			}
			if got := strings.Join(plan.Problems, "\n"); got != c.problem {
				t.Errorf("problems %q\nwant     %q", got, c.problem)
			}
		})
	}
}

// A value can choose a port, and nothing before it.
func TestAValueCantMoveAFrame(t *testing.T) {
	t.Parallel()
	for _, port := range []string{`"80@evil.example/"`, `"80#@evil.example"`, `".evil.example"`, `"/../../"`, `"0"`, `"99999"`, `"80\n"`, `{"a":1}`} {
		for _, config := range []string{`{"url":"http://localhost:$return.port"}`, `{"url":"http://localhost$return.port/"}`} {
			v := Values{Return: json.RawMessage(`{"port":` + port + `}`)}
			plan := Make("frame", json.RawMessage(config), v)
			var got struct{ URL *string }
			if err := json.Unmarshal(plan.Config, &got); err != nil {
				t.Fatal(err)
			}
			if got.URL != nil && !strings.HasPrefix(*got.URL, "http://localhost/") && !strings.HasPrefix(*got.URL, "http://localhost:80") &&
				!strings.HasPrefix(*got.URL, "http://localhost:/") {
				t.Errorf("%s with %s is %s", config, port, *got.URL)
			}
		}
	}
}

func TestAPlanIsBounded(t *testing.T) {
	t.Parallel()
	v := Values{Return: json.RawMessage(`"` + strings.Repeat("x", MaxConfig) + `"`)}
	plan := Make("document", json.RawMessage(`{"content":"$return"}`), v)
	if len(plan.Config) > 2 || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0], "put what is large into a file") {
		t.Errorf("%d bytes, problems %q", len(plan.Config), plan.Problems)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(MakeFailed(Failure{Message: "no such file", Traceback: "line 3\nno such file"}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"renderer":"code","config":{"content":"line 3\nno such file","language":"text"},"error":{"message":"no such file","traceback":"line 3\nno such file"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	refs, err := Refs(json.RawMessage(`{"b":"$return.x","a":{"$args.key":["$args.y and $args.z",1]},"c":"$$args"}`))
	var got []string
	for _, r := range refs {
		got = append(got, r.String())
	}
	if diff := cmp.Diff([]string{"$return.x", "$args.y", "$args.z"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := Refs(json.RawMessage(`{"a":`)); err == nil {
		t.Error("half a document is none")
	}
}

// Whatever the values are, a config without expressions comes through as it is,
// and the result of any config is one object.
func TestPlansAreObjects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"$args", "$return", "$return.a.0", "$$args", "$chat_id", "x", "…", "\"", "\\", "<!--", "\x00", "\xff", ".", "-"})
		value := strings.Join(rapid.SliceOfN(text, 0, 8).Draw(t, "value"), "")
		raw, err := json.Marshal(map[string]any{"content": value, "more": []any{value, 1, nil}})
		if err != nil {
			t.Fatal(err)
		}
		v := Values{Args: json.RawMessage(`{"a":[null]}`), Return: json.RawMessage(rapid.SampledFrom([]string{"", "1", `{"a":["</script>"]}`, `"\ud800"`, "nonsense", "\"\xff\""}).Draw(t, "return"))}
		plan := Make("code", raw, v)
		var fields map[string]any
		if err := json.Unmarshal(plan.Config, &fields); err != nil || fields["more"] == nil {
			t.Fatalf("%s: %v (%q)", plan.Config, err, plan.Problems)
		}
	})
}

// injected gives the data that a page holds, as a browser would read it, and
// how many scripts and images it has.
func injected(t *testing.T, page []byte) (data string, scripts, others int) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script":
			scripts++
			for _, a := range n.Attr {
				if a.Key == "id" && a.Val == dataID {
					data = n.FirstChild.Data
				}
			}
		case "img", "iframe", "svg":
			others++
		}
	}
	return data, scripts, others
}

func TestWhereDataGoes(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"<!doctype html><html><head><title>t</title></head><body>b</body>": "<!doctype html><html><head><title>t</title>@</head><body>b</body>",
		"<!doctype html><html><body class=x>b</body>":                      "<!doctype html><html><body class=x>@b</body>",
		"<HEAD></HEAD>":                           "<HEAD>@</HEAD>",
		"<!-- </head> --><head></head>":           "<!-- </head> --><head>@</head>",
		"<head><script>'</head>'</script></head>": "<head><script>'</head>'</script>@</head>",
		"<head><title></head></title></head>":     "<head><title></head></title>@</head>",
		"<!doctype html>\n<p>x":                   "<!doctype html>\n@<p>x",
		"just text":                               "@just text",
		"":                                        "@",
	} {
		out, err := Inject([]byte(page), json.RawMessage(`1`))
		if err != nil {
			t.Fatal(err)
		}
		i, j := bytes.Index(out, []byte(`<script type="application/json"`)), bytes.LastIndex(out, []byte("</script>"))
		if strings.HasSuffix(want, "@</head>") && strings.Contains(page, "<script>") {
			j = bytes.Index(out, []byte("textContent);</script>")) + len("textContent);")
		}
		if got := string(out[:i]) + "@" + string(out[j+len("</script>"):]); got != want {
			t.Errorf("%q: got %q, want %q", page, got, want)
		}
	}
}

// The attacks of the shared fixtures, and the data of each comes out exactly.
func TestDataCantEscape(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(needtest.Shared(t, "security", "html", "tool-data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			N    string
			Data json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal("the fixtures can't be read", err)
	}
	for _, c := range file.Cases {
		checkInjected(t, c.N, c.Data)
	}
}

func checkInjected(t *testing.T, name string, data json.RawMessage) {
	t.Helper()
	page, err := Inject([]byte("<!doctype html><head></head><body><p>hi"), data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, scripts, others := injected(t, page)
	if scripts != 2 || others != 0 {
		t.Errorf("%s: %d scripts and %d others in\n%s", name, scripts, others, page)
	}
	var want, have any
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		t.Fatalf("%s: %v in %s", name, err, got)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func TestWhatCantBeInjected(t *testing.T) {
	t.Parallel()
	if _, err := Inject(nil, json.RawMessage("{")); err == nil {
		t.Error("half a document was taken")
	}
	if _, err := Inject(make([]byte, MaxArtifact+1), nil); err == nil {
		t.Error("a page that is too large was taken")
	}
	if page, err := Inject(nil, nil); err != nil || !bytes.Contains(page, []byte(">null<")) {
		t.Errorf("no data: %s, %v", page, err)
	}
}

func FuzzInject(f *testing.F) {
	f.Add("<head></head>", `{"x":"</script><script>PWN=1</script>"}`)
	f.Add("<!--", `{"x":"<!--<script>"}`)
	f.Add("<title>", `["\u2028"]`)
	f.Fuzz(func(t *testing.T, page, data string) {
		out, err := Inject([]byte(page), json.RawMessage(data))
		if err != nil {
			return
		}
		i := bytes.Index(out, []byte(`id="`+dataID+`">`))
		rest := string(out[i+len(`id="`+dataID+`">`):])
		text, _, _ := strings.Cut(rest, "</script>")
		if strings.ContainsAny(text, "<>&\u2028\u2029") || !json.Valid([]byte(text)) {
			t.Errorf("the data stands there as %q", text)
		}
	})
}

func FuzzMake(f *testing.F) {
	f.Add("code", `{"file":"$args.path"}`, `{"path":"a"}`)
	f.Add("frame", `{"url":"http://localhost:$args.p"}`, `{"p":"1@x"}`)
	f.Fuzz(func(t *testing.T, renderer, config, args string) {
		plan := Make(renderer, json.RawMessage(config), Values{Args: json.RawMessage(args), Workspace: "/w", Toolset: "/t"})
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(plan.Config, &fields); err != nil {
			t.Errorf("%s: %v", plan.Config, err)
		}
	})
}
