package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/toolset"
)

// plan is what a call needs to be started, resolved against the machine.
type plan struct {
	module  string // dotted
	root    string // the toolset's folder, without links, as it is in a sandbox
	file    string
	policy  toolset.Policy
	command toolset.Command
	in      Interpreter
	code    *bytecode
	key     string // of all that a process is started with
	release func() // lets go of what the call uses
	// folders are those that a process sees as they are when it starts.
	folders []string
}

// plan resolves a spec for a workspace, which may be nil.
func (r *Runtime) plan(ctx context.Context, s Spec, ws *toolset.Workspace, report func(toolset.Progress)) (*plan, error) {
	module, err := s.check()
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("find toolset %s: %w", s.ToolsetID, err)
	}
	p := &plan{release: func() {}, module: module, root: root, file: filepath.Join(root, filepath.FromSlash(s.Module)), policy: s.Policy}
	if info, err := os.Stat(p.file); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("toolset %s has no file %s", s.ToolsetID, filepath.ToSlash(s.Module))
	}
	in, err := r.Interpreter(ctx)
	if err != nil {
		return nil, err
	}
	python, flags, reads := in.Path, []string{"-I", "-S", "-B", "-u", "-X", "utf8", "-X", "faulthandler"}, []string{root, in.runner}
	p.in, p.folders = in, []string{root, in.runner}
	if len(s.Requirements) > 0 {
		env, release, err := r.environment(ctx, in, s, report)
		if err != nil {
			return nil, err
		}
		p.release, p.folders = release, append(p.folders, env)
		// Without site an environment's packages are not found.
		python, flags, reads = pythonIn(env), slices.Delete(flags, 1, 2), append(reads, env)
	}
	if p.policy.Workspace = ""; ws != nil {
		p.policy = p.policy.On(ws)
	}
	p.policy.Readable = slices.Concat(s.Policy.Readable, reads, in.grants())
	p.policy.Lent = slices.Concat(reads, in.grants())
	p.policy.Least = r.least(s)
	p.command = toolset.Command{
		Args: append(append([]string{python}, flags...), filepath.Join(in.runner, "runner.pyc")),
		Env:  []string{"FETTLE_TOOLSET_DIR=" + root},
	}
	if p.code = r.bytecode(in, root); p.code.dir != "" {
		p.policy.Readable, p.policy.Lent = append(p.policy.Readable, p.code.dir), append(p.policy.Lent, p.code.dir)
		p.command.Env = append(p.command.Env, "FETTLE_BYTECODE="+p.code.dir)
		p.folders = append(p.folders, p.code.dir)
	}
	if ws != nil {
		p.folders = append(p.folders, ws.Path)
	}
	text, err := json.Marshal([]any{p.policy, p.command.Args, p.command.Env})
	if err != nil {
		p.release()
		return nil, fmt.Errorf("plan a call: %w", err)
	}
	sum := sha256.Sum256(text)
	p.key = hex.EncodeToString(sum[:])
	return p, nil
}

// grants are the folders that the interpreter itself reads.
func (in Interpreter) grants() []string {
	out := slices.Clone(in.Prefixes)
	dir := grantable([]string{filepath.Dir(in.Path)})
	if len(dir) == 1 && !slices.ContainsFunc(out, func(prefix string) bool {
		rel, err := filepath.Rel(prefix, dir[0])
		return err == nil && filepath.IsLocal(rel)
	}) {
		out = append(out, in.Path) // alone: what is beside it is not Python's
	}
	return out
}

// look takes the folders as they are.
func (p *plan) look() ([]os.FileInfo, error) {
	var out []os.FileInfo
	for _, dir := range p.folders {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, fmt.Errorf("plan a call: %w", err)
		}
		out = append(out, info)
	}
	return out, nil
}
