package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

// shellText matches a command of fettle's or a flag in a text. `fettle serve` alone is the
// name of the server.
var shellText = regexp.MustCompile(`\bfettle (acp|agents|ask|chats?|completion|config|demo|docs|doctor|embed|help|keys|man|mcp|models|payloads|prompts|redo|store|tools?|toolset|trust|undo|usage|workflows|workspace)\b` +
	"|(^|[\\s'\"(`=])--[a-z][a-z-]+" + `|(^|\s)-[a-z]([\s,.]|$)`)

// belowTerminal are the rooms without a terminal: their errors carry remedies, which front
// ends write in their own terms.
func belowTerminal() []string {
	return []string{"./engine/...", "./toolset/...", "./cas/...", "./internal/...", "./server/..."}
}

// knownShell are the files that have such texts for another reader than a user of them.
func knownShell() exceptions {
	const (
		child   = "arguments of another program, which this file starts or recognizes"
		quoted  = "texts of other programs, which this file recognizes"
		format  = "the first line of what is hashed or stored, not a command"
		started = "it is about the command line by which a user starts this front end"
	)
	return exceptions{
		"engine/provider/wire/problem.go": quoted,
		"toolset/builtin/run_command.go":  child,
		"toolset/manifest/judge_mcp.go":   child,
		"toolset/manifest/shapes.go":      "an option in a file of pip's requirements",
		"toolset/mcp/server.go":           format,
		"toolset/python/bytecode.go":      child,
		"toolset/python/interpreter.go":   child,
		"toolset/python/plan.go":          child,
		"toolset/python/venv.go":          child,
		"toolset/registry/plan.go":        format,
		"toolset/sandbox/report_linux.go": "settings of the system and of Docker, which no front end can change",
		"toolset/validate/hashes.go":      "an option in a file of pip's requirements",
		"internal/patch/patch.go":         "a line of git's format",
		"internal/shellparts/seen.go":     child,
		"server/acp/acp.go":               "the name of the program that ends",
		"server/mcp/approve.go":           started,
		"server/mcp/served.go":            "the client's model tells its user how to undo; a client has no operation for it",
		"server/listen_artifacts.go":      started,
		"server/origins.go":               started,
		"server/web/page.go":              started,
		"server/client/remote.go":         "it is the command line's own side of a connection",
	}
}

// checkShell complains about texts for a shell in rooms without one. What is given to
// fault.Run is for a terminal alone: package server has it for the options that it is
// started with.
func checkShell(t tree) []complaint {
	var out []complaint
	for _, f := range t.program() {
		if !matchesAny(belowTerminal(), f.room) || matches("./internal/archtest/...", f.room) || matches("./internal/bench/...", f.room) || f.command() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && matches("./server/...", f.room) {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && nameOf(sel.X) == "fault" && sel.Sel.Name == "Run" {
					return false
				}
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && shellText.MatchString(text) {
				out = append(out, complaint{f.path, fmt.Sprintf("%s: %q is for a shell; an error has a fault.Remedy instead, and other texts name the thing", f.at(lit), shellText.FindString(text))})
			}
			return true
		})
	}
	return out
}

func TestNoShellBelowTheTerminal(t *testing.T) {
	t.Parallel()
	report(t, knownShell().sift(checkShell(project(t))))
}

func TestCheckShell(t *testing.T) {
	t.Parallel()
	wantComplaints(t, texts(checkShell(madeUp(t, map[string]string{
		"engine/a.go":   "package engine\nvar a = \"fettle chats list\"\nvar b = `leave out -w`\nvar c = \"the server fettle serve has no -- and a-b\"\nvar d = []string{\"--tool\"}\nvar e = fault.Run(\"fettle ask\")",
		"server/b.go":   "package server\nvar a = fault.Run(\"fettle serve --listen ADDRESS\")\nvar b = fault.Advise(\"fettle serve --listen ADDRESS\")",
		"commands/c.go": "package commands\nvar a = \"fettle chats list\"",
	}))),
		`^engine/a.go:2: "fettle chats" is `, `^engine/a.go:3: " -w" is `, `^engine/a.go:5: "--tool" is `, `^engine/a.go:6: "fettle ask" is `, `^server/b.go:3: " --listen" is `)
}
