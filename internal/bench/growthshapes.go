package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// growthShape is a pair of stores, the larger one growthFactor times the smaller one, and
// the operations that are compared in them.
type growthShape struct {
	name string
	// fill makes the stores NAME-small and NAME-large.
	fill func(l *lab, name string) error
	rows []growthRow
}

// growthShapes are stores that have much of something other than chats.
func growthShapes() []growthShape {
	again := []string{"ask", "-c", "-m", "openai/m", "--no-stdin", "--no-tools", "and then?"}
	plain := []string{"ask", "-m", "openai/m", "--no-stdin"}
	return []growthShape{
		{"long", fillLong, []growthRow{
			{"20,000 messages: show --last 10", []string{"chats", "show", "--last", "10"}, mostConstant},
			{"20,000 messages: show", []string{"chats", "show"}, mostLinear},
			{"20,000 messages: branches", []string{"chats", "branches"}, mostConstant},
			{"20,000 messages: search", []string{"chats", "search", "quokka"}, mostLinear},
			{"20,000 messages: export", []string{"chats", "export", "-o", "json"}, mostLinear},
			{"20,000 messages: fork", []string{"chats", "fork"}, mostLinear},
		}},
		{"branches", fillBranches, []growthRow{
			{"300 branches: show", []string{"chats", "show"}, mostConstant},
			{"300 branches: list", []string{"chats", "branches"}, mostLinear},
			{"300 branches: switch", []string{"chats", "switch", "2"}, mostConstant},
			{"300 branches: ask -c", again, mostConstant},
		}},
		{"toolsets", fillToolsets, []growthRow{
			{"300 toolsets: ask --no-tools", append(plain, "--no-tools", "hello"), mostConstant},
			{"300 toolsets: ask", append(plain, "hello"), mostLinear},
			{"300 toolsets: list", []string{"toolset", "list"}, mostLinear},
			{"300 toolsets: list of tools", []string{"tool", "list"}, mostLinear},
			{"300 toolsets: show one", []string{"toolset", "show", "t1"}, mostConstant},
			{"300 toolsets: switch one off", []string{"toolset", "disable", "t1"}, mostConstant},
		}},
	}
}

// fillLong imports one chat of many messages.
func fillLong(l *lab, name string) error {
	return l.fillChats(name, mostMessages, func(n int) chatShape { return chatShape{chats: 1, messages: n, rare: 1} })
}

// fillBranches imports one chat of many branches of four messages.
func fillBranches(l *lab, name string) error {
	return l.fillChats(name, mostBranches, func(n int) chatShape { return chatShape{chats: 1, messages: 4 * n, branch: 4} })
}

// fillChats imports the chats of a shape into both stores.
func (l *lab) fillChats(name string, large int, shape func(n int) chatShape) error {
	for size, n := range sizesOf(large) {
		file := filepath.Join(l.dir, name+size+".jsonl")
		if _, err := writeDocuments(file, shape(n)); err != nil {
			return err
		}
		store := name + "-" + size
		f, err := l.runOnce(program{"import", []string{l.fettle, "chats", "import", file}, l.env(store, ""), nil})
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d, import wall %s cpu %s\n", store, n, ms(f.wall), ms(f.cpu))
	}
	return nil
}

func sizesOf(large int) map[string]int {
	return map[string]int{"small": large / growthFactor, "large": large}
}

// fillToolsets installs many toolsets of five tools, one after the other, and prints what
// the last one costs compared with the first one: an import must not read all others.
func fillToolsets(l *lab, name string) error {
	var last [2]figure
	for i, size := range []string{"small", "large"} {
		n := sizesOf(mostToolsets)[size]
		for k := range n {
			dir := filepath.Join(l.dir, "bundles", fmt.Sprintf("t%d", k))
			if err := smallToolset(dir, fmt.Sprintf("t%d", k)); err != nil {
				return err
			}
			var err error
			last[i], err = l.runOnce(program{"toolset import", []string{l.fettle, "toolset", "import", "--yes", dir}, l.env(name+"-"+size, ""), nil})
			if err != nil {
				return err
			}
		}
	}
	return growthRatio("300 toolsets: import of the last one", last[0], last[1], mostLinear)
}

// smallToolset writes the folder of a toolset of five tools.
func smallToolset(dir, id string) error {
	text := "manifest_version: \"1\"\nid: " + id + "\nname: " + id + "\nversion: \"1.0.0\"\ndescription: Does five things\ntools:\n"
	for i := range 5 {
		text += fmt.Sprintf("  - {id: tool%d, description: %q, entrypoint: \"one:run\", input_schema: {type: object, properties: {a: {type: string}}}}\n",
			i, strings.Repeat("does a thing ", 8))
	}
	if err := os.MkdirAll(filepath.Join(dir, "tools"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "toolset.yaml"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "tools", "one.py"), []byte("def run(workspace, a=''):\n    return {}\n"), 0o644)
}
