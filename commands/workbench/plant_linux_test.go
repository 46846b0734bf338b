package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/gitguard"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// planterTool is a tool that runs a shell command, in a process of its own for each call
// or in one that lives on.
const planterTool = `import subprocess

def run(command: str, workspace: str = "") -> str:
    subprocess.run(["sh", "-c", command], check=False)
    return "done"
`

// planterServer is an MCP server that runs shell commands.
const planterServer = `import json, subprocess, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, reply = message["method"], {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        reply["result"] = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "planter", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        subprocess.run(["sh", "-c", message["params"]["arguments"]["command"]], check=False)
        reply["result"] = {"content": [{"type": "text", "text": "done"}]}
    else:
        reply["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(reply), flush=True)
`

// planters are the tools that try to add repositories; the last two live on.
var planters = []string{"run_command", "planter:once", "planter:serve", "planter_mcp:run"}

// plots are what each of them tries, in a folder that plotIn has made.
var plots = []string{
	`mkdir -p .git; echo evil > .git/config`,
	`mkdir -p new/.git/hooks; echo evil > new/.git/config`,
	`mkdir -p case/.GIT; echo evil > case/.GIT/config`,
	`mkdir -p file; echo 'gitdir: ../target' > file/.git`,
	`mkdir -p link; ln -s ../target link/.git`,
	`mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/x' > bare/HEAD; echo evil > bare/config`,
	`mkdir -p common; echo x > common/HEAD; echo ../bare > common/commondir`,
	`mkdir -p out/.git; echo evil > out/.git/config`,
	`mkdir -p node_modules/p/.git; echo evil > node_modules/p/.git/config`,
	`mkdir -p shut/.git; echo evil > shut/.git/config; chmod 0311 shut`,
	`echo evil > mine/.git/config`,
	`mv mine/.git/config mine/.git/config2; echo evil > mine/.git/config`,
	`echo evil > mine/.git/hooks/post-checkout; chmod 755 mine/.git/hooks/post-checkout`,
	`rm -f mine/.git/hooks/pre-commit`,
	`mv mine/.git mine/away`,
	`echo 'gitdir: ../target' > tree/.git`,
	`rm -f tree/.git`,
	`echo 'src/' > .fettleignore`,
	`touch suid; chmod 4755 suid; cp /bin/true suid2; chmod 2755 suid2`,
}

// plotIn makes a folder with repositories of the user's.
func plotIn(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"mine/.git/HEAD": "ref: refs/heads/main\n", "mine/.git/config": "mine", "mine/.git/hooks/pre-commit": "mine",
		"mine/.git/objects/x": "", "mine/.git/refs/x": "", "tree/.git": "gitdir: ../mine/.git", ".fettleignore": "out/\n",
		"package.json": "{}", "node_modules/p/f": "", "target/f": "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// use is what git and fettle would use of a folder: repositories, the files that decide
// what git runs, exclusion rules, and programs that run as another user.
func use(t *testing.T, dir string) string {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	found, err := gitguard.Scan(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	out := found.BareParts()
	for _, name := range found.Repositories() {
		// Git ignores an empty one, such as the placeholder of a process that lives on.
		if inside, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(name))); err != nil || len(inside) > 0 {
			out = append(out, name)
		}
	}
	for _, name := range []string{"mine/.git/config", "tree/.git", ".fettleignore"} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		out = append(out, fmt.Sprintf("%s: %q %v", name, text, err))
	}
	hooks, _ := os.ReadDir(filepath.Join(dir, "mine", ".git", "hooks"))
	for _, h := range hooks {
		if !strings.Contains(h.Name(), "-set-aside") { // which git does not run
			out = append(out, "hook "+h.Name())
		}
	}
	for _, name := range []string{"suid", "suid2"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			out = append(out, name+" runs as another user")
		}
	}
	return strings.Join(out, "\n")
}

// planting is an engine whose tools are contained at one level.
type planting struct {
	*engine.Engine
	box *toolbox
}

func newPlanting(t *testing.T, level toolset.Level, change ...func(*planting, *engine.Options)) *planting {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "planter.py"), []byte(planterTool), 0o644),
		os.WriteFile(filepath.Join(dir, "server.py"), []byte(planterServer), 0o644)); err != nil {
		t.Fatal(err)
	}
	p := &planting{box: &toolbox{launcher: sandbox.New(sandbox.Options{KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})}}
	p.box.python = python.New(python.Options{Launcher: p.box.launcher, CacheDir: filepath.Join(dir, "cache"), Notice: func(s string) { t.Log(s) }, NoSpares: true, Least: level})
	p.box.servers = mcp.New(mcp.Options{Launcher: p.box.launcher, Dir: filepath.Join(dir, "mcp")})
	policy := toolset.Policy{Least: level, Most: level}
	var entries []toolset.Entry
	for _, e := range builtin.Entries(builtin.Options{Launcher: p.box.launcher, Policy: policy}) {
		if e.Tool.ID == planters[0] {
			entries = append(entries, e)
		}
	}
	add := func(id string, runner toolset.Runner) {
		set, _, _ := strings.Cut(id, ":")
		entries = append(entries, toolset.Entry{Runner: runner, OwnProcess: id == planters[1], Tool: toolset.Tool{
			ID: id, ToolsetID: set, Description: "plants", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`),
		}})
	}
	spec := python.Spec{ToolsetID: "planter", Dir: dir, Module: "planter.py", Function: "run", Policy: policy, ToolID: planters[1]}
	add(planters[1], p.box.python.Runner(spec))
	spec.Service, spec.ToolID = true, planters[2]
	add(planters[2], p.box.python.Runner(spec))
	server := mcp.Server{ID: "planter_mcp", Command: "python3", Args: []string{filepath.Join(dir, "server.py")}, Own: true, Policy: policy}
	server.Policy.Readable = []string{filepath.Join(dir, "server.py")}
	add(planters[3], nil)
	last := &entries[len(entries)-1]
	last.Runner = p.box.servers.Runner(server, last.Tool)
	tools, err := toolset.NewSet(entries...)
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{
		Options:           store.Options{DataDir: filepath.Join(dir, "data"), Notice: func(s string) { t.Log(s) }},
		Sources:           catalog.Sources{Tools: tools, Services: p.box.python},
		Models:            &models.Catalog{Registry: new(provider.Registry)},
		SealsRepositories: func(context.Context) bool { return level == toolset.LevelFull },
	}
	for _, change := range change {
		change(p, &o)
	}
	p.Engine = engine.New(o)
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.box.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// begin starts a turn of calls of one tool.
func (p *planting) begin(t *testing.T, dir, tool string, commands ...string) store.TurnID {
	t.Helper()
	var calls []engine.DirectCall
	for _, c := range commands {
		args, err := json.Marshal(map[string]string{"command": c})
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, engine.DirectCall{Tool: tool, Args: args})
	}
	id, err := p.Start(t.Context(), engine.TurnRequest{Title: "planting", Workspace: dir, Policy: permission.Policy{AllowAll: true}, Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// end waits for the end of a turn.
func (p *planting) end(t *testing.T, id store.TurnID) (calls []event.ToolComplete, warned string) {
	t.Helper()
	for e, err := range p.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.ToolComplete:
			calls = append(calls, b)
		case event.Footnote:
			if b.Warning {
				warned += b.Text + "\n"
			}
		}
	}
	return calls, warned
}

// No tool leaves a repository that git would use, or other rules, in the user's folder:
// at each level, by a process of its own or one that lives on, in calls that end, that are
// cancelled, and between calls.
func TestNoToolPlantsARepository(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	for _, level := range []toolset.Level{toolset.LevelFull, toolset.LevelReduced} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			p := newPlanting(t, level)
			if r, err := p.box.launcher.Report(t.Context()); err != nil || r.Level < level {
				needtest.Lacking(t, fmt.Sprintf("level %s: %v %v", level, r, err))
			}
			for _, tool := range planters {
				if tool == "planter:serve" && level != toolset.LevelFull {
					continue // services need a network of their own
				}
				dir := plotIn(t)
				want := use(t, dir)
				check := func(when string) {
					t.Helper()
					if got := use(t, dir); got != want {
						t.Errorf("%s, %s: there is\n%s\nwant\n%s", tool, when, got, want)
					}
				}
				calls, _ := p.end(t, p.begin(t, dir, tool, plots...))
				if len(calls) != len(plots) {
					t.Fatalf("%s: %d of %d calls ran", tool, len(calls), len(plots))
				}
				for _, c := range calls {
					if c.Status != event.CallSuccess {
						t.Fatalf("%s: %s", tool, c.Error)
					}
				}
				check("after its calls")
				p.cutOff(t, dir, tool)
				check("after a call that was cancelled")
				p.between(t, dir, tool)
				check("after a process that lived on")
			}
		})
	}
}

// The same of calls whose files land when they have ended.
func TestNoToolPlantsARepositoryByALayer(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	var mounted atomic.Int32
	p := newPlanting(t, toolset.LevelFull, func(p *planting, o *engine.Options) {
		o.Layers = func(ctx context.Context, workspace, dir string) (string, error) {
			why, err := p.box.launcher.Layers(ctx, workspace, dir)
			if why == "" && err == nil {
				mounted.Add(1)
			}
			return why, err
		}
	})
	if r, err := p.box.launcher.Report(t.Context()); err != nil || r.Level < toolset.LevelFull {
		needtest.Lacking(t, fmt.Sprintf("level full: %v %v", r, err))
	}
	for _, tool := range planters[:2] {
		dir := plotIn(t)
		want := use(t, dir)
		calls, warned := p.end(t, p.begin(t, dir, tool, plots...))
		for _, c := range calls {
			if c.Status != event.CallSuccess {
				t.Fatalf("%s: %s", tool, c.Error)
			}
		}
		if got := use(t, dir); got != want || !strings.Contains(warned, "new/git-set-aside") {
			t.Errorf("%s: there is\n%s\nwant\n%s\nthe warnings are %q", tool, got, want, warned)
		}
	}
	if n := int(mounted.Load()); n < len(plots) {
		needtest.Lacking(t, fmt.Sprintf("overlays in user namespaces: %d calls had one", n))
	}
}

// cutOff cancels a call that has added a repository.
func (p *planting) cutOff(t *testing.T, dir, tool string) {
	t.Helper()
	id := p.begin(t, dir, tool, `mkdir -p cut/.git; echo evil > cut/.git/config; touch cut/ready; sleep 1000`)
	ended := make(chan string, 1)
	go func() {
		for e := range p.Follow(t.Context(), id, 0) {
			if b, ok := e.Body.(event.ToolComplete); ok {
				ended <- b.Error
				return
			}
		}
	}()
	for ready := false; !ready; time.Sleep(10 * time.Millisecond) {
		select {
		case why := <-ended:
			t.Fatalf("%s: the call ended before it was cancelled: %s", tool, why)
		default:
			_, err := os.Lstat(filepath.Join(dir, "cut", "ready"))
			ready = err == nil
		}
	}
	if err := p.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, warned := p.end(t, id); !strings.Contains(warned, "cut/git-set-aside") {
		t.Errorf("%s: the warnings of a cancelled call are %q", tool, warned)
	}
	p.box.servers.Forget("planter_mcp") // which is still busy with that call
}

// between has a process add a repository after its call, as far as it may live on, and
// ends it.
func (p *planting) between(t *testing.T, dir, tool string) {
	t.Helper()
	p.end(t, p.begin(t, dir, tool, `(while ! test -e later/go; do sleep 0.05; done; mkdir -p later/.git; echo evil > later/.git/config; touch later/done) > later.log 2>&1 &`))
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "later"), 0o755), os.WriteFile(filepath.Join(dir, "later", "go"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(planters[2:], tool) {
		return // its processes have ended with the call
	}
	waitForFile(t, filepath.Join(dir, "later", "done"))
	p.box.servers.Forget("planter_mcp")
	p.box.python.EndServices("the test ends it", func(toolset.Service) bool { return true })
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(filepath.Join(dir, "later", ".git")); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: the end of the process was not followed by a check", tool)
		}
	}
}

// patience is how long a test waits for what a process does on a busy machine.
const patience = 2 * time.Minute

// waitForFile waits until a tool has made a file.
func waitForFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is no %s", path)
		}
	}
}

// asNobody marks the test binary that TestNobodyPlantsARepository starts.
const asNobody = "FETTLE_TEST_AS_NOBODY"

// Much is different for root, so the same is tried as an unprivileged user.
func TestNobodyPlantsARepository(t *testing.T) { runAsNobody(t, "TestNoToolPlantsARepository", 3) }

// runAsNobody runs a test of this package once more as an unprivileged user; least is how
// many tests have to pass in it, with its subtests.
func runAsNobody(t *testing.T, test string, least int) {
	t.Helper()
	if os.Getuid() != 0 || os.Getenv(asNobody) != "" {
		t.Skip("needs root, who alone can become someone else")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+test+"$", "-test.v", "-test.timeout=8m")
	cmd.Env = append(os.Environ(), asNobody+"=1", "HOME=/tmp", "TMPDIR=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: ") < least {
		t.Fatalf("%v\n%s", err, out)
	}
}
