package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/schema"
)

const someMCPB = `{
  "manifest_version": "0.3", "name": "@acme/File Finder", "display_name": "File Finder", "version": "1.2",
  "description": "Finds files", "author": {"name": "Acme"}, "license": "MIT", "icon": "icon.png",
  "server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {
    "command": "node",
    "args": ["${__dirname}${/}server/index.js", "--root=${HOME}", "${user_config.dirs}", "--lang=${user_config.language}", "--opt=${user_config.extra}"],
    "env": {"API_KEY": "${user_config.api_key}", "PORT": "${user_config.port}", "OPTIONAL": "${user_config.extra}", "NODE_OPTIONS": "--require x", "DOCS": "${DOCUMENTS}/x"},
    "platform_overrides": {"win32": {"command": "node.exe"}}}},
  "user_config": {
    "api_key": {"type": "string", "title": "API key", "description": "From acme.example", "required": true, "sensitive": true},
    "port": {"type": "number", "title": "Port", "description": "Port", "default": 8080},
    "dirs": {"type": "directory", "title": "Folders", "description": "Where to look", "multiple": true, "default": ["${DESKTOP}", "${HOME}/src"]},
    "language": {"type": "string", "title": "Language", "description": "Language", "required": true},
    "extra": {"type": "string", "title": "Extra", "description": "Extra"}},
  "compatibility": {"platforms": ["darwin", "linux"]}, "prompts": [{"name": "p", "text": "x"}], "tools": [{"name": "find", "description": "x"}]
}`

func TestFromMCPB(t *testing.T) {
	t.Parallel()
	c, err := FromMCPB([]byte(someMCPB))
	if err != nil {
		t.Fatal(err)
	}
	m := c.Manifest
	s := m.MCPServers[0]
	wantArgs := []string{"assets/server/index.js", "--root=${HOME}", "${HOME}/Desktop", "${HOME}/src", "--lang=${LANGUAGE}"}
	if m.ID != "file-finder" || m.Name != "File Finder" || m.Version != "1.2.0" || s.Command != "node" || !slices.Equal(s.Args, wantArgs) {
		t.Errorf("made %+v", m)
	}
	if fmt.Sprint(s.Env) != "map[API_KEY:${API_KEY} DOCS:${HOME}/Documents/x PORT:8080]" {
		t.Errorf("the environment is %v", s.Env)
	}
	said := strings.Join(c.Notes, "\n")
	for _, want := range []string{
		"needs the environment variable API_KEY", "needs the environment variable LANGUAGE", `"port" is fixed to its default "8080"`, `"extra" is optional and was left out`,
		`"NODE_OPTIONS" was left out`, "on win32 was left out", "made for darwin, linux", "no such field: icon", "no such field: prompts", `licence "MIT"`, `"1.2" is read as 1.2.0`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no note says %q:\n%s", want, said)
		}
	}
	if d := Parse(FileName, c.YAML, Options{}); d.Manifest == nil {
		t.Error(d.Err())
	}
	roundTrip(t, m)
}

// TestMCPBKeepsWhatIsOptionalAndAsWritten covers optional secrets, and numbers where
// texts belong.
func TestMCPBKeepsWhatIsOptionalAndAsWritten(t *testing.T) {
	t.Parallel()
	c, err := FromMCPB([]byte(`{"manifest_version": "0.3", "name": "x", "version": "1.0.0", "description": "d", "author": {"name": "a", "email": "a@example.com"},
  "server": {"type": "node", "entry_point": "i.js", "zz": 1, "mcp_config": {"command": "node", "args": ["i.js", 8080, 12345678901234567890, true, null, "--token=${user_config.token}"],
    "env": {"PORT": 1000000, "TOKEN": "${user_config.token}", "LIMIT": "${user_config.limit}", "NONE": null}, "cwd": "x"}},
  "user_config": {"token": {"type": "string", "title": "Token", "sensitive": true}, "limit": {"type": "number", "title": "Limit", "default": 25000000, "min": 1}},
  "compatibility": {"platforms": [], "runtimes": {"node": ">=18"}}, "icon": null}`))
	if err != nil {
		t.Fatal(err)
	}
	s := c.Manifest.MCPServers[0]
	if want := []string{"i.js", "8080", "12345678901234567890", "true"}; !slices.Equal(s.Args, want) {
		t.Errorf("the arguments are %q", s.Args)
	}
	if got := fmt.Sprint(s.Env); got != "map[LIMIT:25000000 PORT:1000000 TOKEN:${TOKEN:-}]" {
		t.Errorf("the environment is %s", got)
	}
	if uses := c.Manifest.Variables(); len(uses) != 1 || !uses[0].Optional {
		t.Errorf("the variables are %+v", uses)
	}
	said := strings.Join(c.Notes, "\n")
	for _, want := range []string{
		"takes the environment variable TOKEN where it is set", "args: entry 5 is null", "env.NONE: it is null", "server.zz", "server.mcp_config.cwd",
		"author.email", "compatibility.runtimes", "user_config.limit.min", `"token" is optional and was left out`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no note says %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "icon") {
		t.Errorf("a field that is null is noted:\n%s", said)
	}
	roundTrip(t, c.Manifest)
}

// TestMCPBSample makes sure that the sample is one by the published schema.
func TestMCPBSample(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(needtest.Shared(t, "protocols", "mcpb", "mcpb-manifest-v0.3.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if problems := s.Validate([]byte(someMCPB)); len(problems) > 0 {
		t.Error(schema.Explain(problems))
	}
}

func TestRefusedMCPB(t *testing.T) {
	t.Parallel()
	with := func(old, new string) string { return strings.Replace(someMCPB, old, new, 1) }
	for name, tt := range map[string]struct{ text, err string }{
		"no JSON":                 {"{", "JSON"},
		"one key twice":           {`{"name": "a", "name": "b"}`, "twice"},
		"other types":             {with(`"name": "@acme/File Finder"`, `"name": 5`), "no MCP bundle"},
		"a version to come":       {with(`"0.3"`, `"2.0"`), "not known"},
		"no command":              {with(`"command": "node",`, ``), "missing"},
		"a program of its own":    {with(`"command": "node"`, `"command": "${__dirname}/server/run"`), "inside the bundle"},
		"a path":                  {with(`"command": "node"`, `"command": "/bin/sh"`), "inside the bundle"},
		"shell syntax":            {with(`"command": "node"`, `"command": "node;ls"`), "it makes no toolset"},
		"a variable of nobody":    {with(`--root=${HOME}`, `--root=${user.home}`), "it makes no toolset"},
		"a secret in plain text":  {with(`"default": 8080`, `"default": "ghp_EXAMPLEnotrealEXAMPLEnotreal1234"`), "key of a service"},
		"an address for a number": {with(`"version": "1.2"`, `"version": ["1"]`), "no MCP bundle"},
	} {
		if c, err := FromMCPB([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: made %+v, error %v", name, c, err)
		}
	}
	// lists in lists grow to what a server may have, and no further
	many := make([]string, 300)
	for i := range many {
		many[i] = "x"
	}
	list, _ := json.Marshal(many)
	text := with(`["${DESKTOP}", "${HOME}/src"]`, string(list))
	text = strings.Replace(text, `"${user_config.dirs}"`, `"`+strings.Repeat("${user_config.dirs}", 3)+`"`, 1)
	if c, err := FromMCPB([]byte(text)); err == nil {
		t.Errorf("made %d arguments", len(c.Manifest.MCPServers[0].Args))
	}
}

func TestFromSkill(t *testing.T) {
	t.Parallel()
	const head = "---\nname: pdf-forms\ndescription: Fill in forms. Use when: a PDF has fields.\nlicense: Apache-2.0\nallowed-tools: Bash(python:*) Read\nmetadata:\n  version: \"1.4\"\n  author: someone\n---\n"
	c, err := FromSkill("pdf-forms", []byte(head+"\n# Forms\n\nRun `scripts/fill.py`.\n"), []string{"scripts/fill.py"})
	if err != nil {
		t.Fatal(err)
	}
	m := c.Manifest
	if m.ID != "pdf-forms" || m.Version != "1.4.0" || len(m.Agents) != 1 || m.Agents[0].Purpose != "Fill in forms. Use when: a PDF has fields." ||
		!strings.HasPrefix(m.Agents[0].Prompt, "# Forms\n\nRun `scripts/fill.py`.\n") || len(m.Agents[0].Tools) > 0 {
		t.Errorf("made %+v", m)
	}
	said := strings.Join(c.Notes, "\n")
	for _, want := range []string{"as if they stood in quotes", "Bash(python:*) Read", "Apache-2.0", "someone", "1 files are kept"} {
		if !strings.Contains(said, want) {
			t.Errorf("no note says %q:\n%s", want, said)
		}
	}
	roundTrip(t, m)
	for name, tt := range map[string]struct{ folder, text, err string }{
		"no head":         {"x", "# Do it", "doesn't begin with ---"},
		"open head":       {"x", "---\nname: x\n", "no second ---"},
		"no description":  {"x", "---\nname: x\n---\nDo it.", "description is missing"},
		"no name at all":  {"", "---\ndescription: x\n---\nDo it.", "name is missing"},
		"no instructions": {"x", "---\nname: x\ndescription: y\n---\n", "no instructions"},
		"an alias":        {"x", "---\nname: &a x\ndescription: *a\n---\nDo it.", "line 3"},
		"a list":          {"x", "---\n- x\n---\nDo it.", "expected fields"},
		"UTF-16":          {"x", "---\n\xff\xfe\n---\nDo it.", "UTF-"},
	} {
		if _, err := FromSkill(tt.folder, []byte(tt.text), nil); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for in, want := range map[string]string{"9lives": "skill-9lives", "con": "skill-con", "Ünï": "n", "a b": "a-b", "---": "skill"} {
		c, err := FromSkill("", []byte("---\nname: \""+in+"\"\ndescription: y\n---\nDo it."), nil)
		if err != nil || c.Manifest.ID != want {
			t.Errorf("%s became %+v: %v", in, c, err)
		}
	}
}

// TestFromSkillNotesWhatItLeavesOut names each field that a toolset does not have.
func TestFromSkillNotesWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	const text = "---\nname: x\ndescription: y\nmodel: opus\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: ./check.sh}]\n" +
		"argument-hint: \"[file]\"\nsomething-new: {a: {b: c}}\nagent:\nmetadata: {version: 1.0.0, tags: [a]}\n---\nRead !`date` and $ARGUMENTS in ${CLAUDE_SKILL_DIR}.\n"
	c, err := FromSkill("x", []byte(text), []string{"hooks/check.sh", "models/small.bin"})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(c.Notes, "\n")
	for _, want := range []string{
		"the field model was left out: the agent uses the model", "the field hooks was left out: its hooks are not run", "the field argument-hint was left out",
		"the field something-new is not known", "metadata.tags was left out", "commands in the instructions", "$ARGUMENTS", "${CLAUDE_SKILL_DIR}",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no note says %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "the field agent") {
		t.Errorf("a field that is null is noted:\n%s", said)
	}
	roundTrip(t, c.Manifest)
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(someMCPB))
	f.Add([]byte("---\nname: x\ndescription: y\n---\nDo it."))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, convert := range []func() (*Converted, error){
			func() (*Converted, error) { return FromMCPB(raw) },
			func() (*Converted, error) { return FromSkill("x", raw, []string{"a"}) },
		} {
			if c, err := convert(); err == nil {
				roundTrip(t, c.Manifest)
			}
		}
	})
}
