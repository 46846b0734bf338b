package main

import (
	"fmt"
	"os"
	"sort"
)

// bench is one set of figures.
type bench struct {
	name, about string
	run         func(*lab) error
}

func benches() []bench {
	return []bench{
		{"ask", "one question, streaming, opening the store", runAsk},
		{"chat", "the next question of a chat of ten thousand messages beside a hundred", runChat},
		{"chat-term", "the page of fettle chat: its first prompt, a long answer, idleness", runChatTerm},
		{"chats", "searching ten thousand chats beside a hundred", runChats},
		{"growth", "operations in a store, beside one that is four times as large", runGrowth},
		{"cas", "snapshots and restores of 1,000 to 100,000 files", runCAS},
		{"tools", "importing and validating bundles, refusing hostile ones, calling Python tools", runTools},
		{"serve", "a thousand clients following a hundred turns, beside a bare reverse proxy", runServe},
		{"serve-apis", "an event of /v1/messages and of /v1/embeddings, next to a bare reverse proxy", runServeAPIs},
		{"docs", "embedding and searching documents of 1,000 to 100,000 passages", runDocs},
		{"sandbox", "what containing a process costs", runSandbox},
	}
}

func main() {
	if err := mainErr(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func mainErr(args []string) error {
	all := benches()
	sort.Slice(all, func(i, k int) bool { return all[i].name < all[k].name })
	if len(args) == 1 {
		for _, b := range all {
			if b.name == args[0] {
				lab, err := newLab()
				if err != nil {
					return err
				}
				defer lab.close()
				return b.run(lab)
			}
		}
	}
	usage := "usage: go run ./internal/bench NAME\n"
	for _, b := range all {
		usage += fmt.Sprintf("  %-10s %s\n", b.name, b.about)
	}
	return fmt.Errorf("which one? %s", usage)
}
