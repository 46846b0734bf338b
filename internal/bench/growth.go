package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// growthFactor is how much larger the second of two stores is.
	growthFactor = 4
	growthChats  = 1000 // in the small store
	growthLong   = 1000 // messages of its long chat
	growthRuns   = 11
	// mostMessages, mostBranches and mostToolsets are of the larger ones of the stores that
	// have one long chat, one chat of many branches, and many toolsets.
	mostMessages = 20_000
	mostBranches = 300
	mostToolsets = 300
	// mostConstant is how much more cpu an operation may take in the large
	// store where it shows or adds a few things: opening the store grows a
	// little with its tables.
	mostConstant = 1.6
	// mostWritten is the bound of what an import writes to the disk, which is a log factor
	// above linear: each level of the store writes a byte once more.
	mostWritten = 1.8 * growthFactor
	// mostLinear is the bound of an operation on all of a chat, or of a file.
	mostLinear = 1.4 * growthFactor
)

// growthRow is an operation and the law of its cost.
type growthRow struct {
	label string
	args  []string
	most  float64
}

// runGrowth compares operations in a store and in one that is four times as
// large, and fails where the cost of one grows faster than its law. The stores
// are filled by fettle chats import, which is the first figure. The environment
// variable FETTLE_BENCH_CHATS sets another size of the small store; see growthShapes for
// the stores of other shapes.
func runGrowth(l *lab) error {
	chats := growthChats
	if text := os.Getenv("FETTLE_BENCH_CHATS"); text != "" {
		if _, err := fmt.Sscan(text, &chats); err != nil {
			return fmt.Errorf("FETTLE_BENCH_CHATS=%s: %w", text, err)
		}
	}
	m, err := startModel(20)
	if err != nil {
		return err
	}
	defer m.close()
	if err := growthStores(l, chats); err != nil {
		return err
	}
	slow := []error{l.compare(m.base, "", growthRows())}
	for _, shape := range growthShapes() {
		if err := shape.fill(l, shape.name); err != nil {
			return err
		}
		slow = append(slow, l.compare(m.base, shape.name+"-", shape.rows))
	}
	slow = append(slow, growthPassages(l, m.base))
	return errors.Join(slow...)
}

// compare measures operations in the small and the large store whose names begin with
// prefix, and returns what grows faster than its law.
func (l *lab) compare(base, prefix string, rows []growthRow) error {
	var slow []error
	for _, r := range rows {
		args := append([]string{l.fettle}, r.args...)
		figures, err := l.measure([]program{
			{r.label + ", small", args, l.env(prefix+"small", base), nil}, {r.label + ", large", args, l.env(prefix+"large", base), nil},
		}, growthRuns)
		if err != nil {
			return err
		}
		slow = append(slow, growthRatio(r.label, figures[0], figures[1], r.most))
	}
	return errors.Join(slow...)
}

// growthRows are the operations. The long chat is the one that is used last.
func growthRows() []growthRow {
	return []growthRow{
		{"chats list", []string{"chats", "list"}, mostConstant},
		{"chats search, a rare word", []string{"chats", "search", "quokka"}, mostConstant},
		{"usage", []string{"usage"}, mostConstant},
		{"doctor", []string{"doctor"}, mostConstant},
		{"complete a chat", []string{"__complete", "bash", "--", "=1", "chats", "show"}, mostConstant},
		{"chats show of a short chat", []string{"chats", "show", "2"}, mostConstant},
		{"chats export of a short chat", []string{"chats", "export", "2", "-o", "json"}, mostConstant},
		{"chats show --last 10 of a long chat", []string{"chats", "show", "--last", "10"}, mostConstant},
		{"chats show of a long chat", []string{"chats", "show"}, mostLinear},
		{"chats branches of a long chat", []string{"chats", "branches"}, mostConstant},
		{"chats export of a long chat", []string{"chats", "export", "-o", "json"}, mostLinear},
		{"ask, a new chat", []string{"ask", "-m", "openai/m", "--no-stdin", "--no-tools", "hello"}, mostConstant},
		{"ask -c", []string{"ask", "-c", "-m", "openai/m", "--no-stdin", "--no-tools", "and then?"}, mostConstant},
	}
}

// growthStores fills the stores and checks what the import costs, in time and on the
// disk. The last store has a long chat.
func growthStores(l *lab, chats int) error {
	var took [2]figure
	for i, name := range []string{"small", "large"} {
		n := chats
		if name == "large" {
			n *= growthFactor
		}
		many, long := filepath.Join(l.dir, name+".jsonl"), filepath.Join(l.dir, name+"-long.jsonl")
		text, err := writeDocuments(many, chatShape{chats: n, messages: 4, rare: 3})
		if err != nil {
			return err
		}
		more, err := writeDocuments(long, chatShape{messages: n * growthLong / growthChats, chats: 1, first: n})
		if err != nil {
			return err
		}
		count := func(out []byte) error {
			if got := bytes.Count(out, []byte("\n")); got != n+1 {
				return fmt.Errorf("imported %d of %d chats", got, n+1)
			}
			return nil
		}
		f, err := l.runOnce(program{"import", []string{l.fettle, "chats", "import", many, long}, l.env(name, ""), count})
		if err != nil {
			return err
		}
		took[i] = f
		size, err := treeSize(filepath.Join(l.dir, name))
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d chats, text %s, store %s = %.1f x\n", name, n+1, mb(text+more), mb(size), float64(size)/float64(text+more))
	}
	return errors.Join(growthRatio("chats import", took[0], took[1], mostLinear), writtenRatio(took[0], took[1]))
}

// writtenRatio fails where an import writes the same again and again.
func writtenRatio(small, large figure) error {
	if small.written == 0 || large.written == 0 {
		return nil // not measured here
	}
	grows := float64(large.written) / float64(small.written)
	fmt.Printf("  %-38s %s -> %s  ratio %5.2f (at most %.1f)\n", "chats import, bytes to the disk", mb(small.written), mb(large.written), grows, mostWritten)
	if grows > mostWritten {
		return fmt.Errorf("chats import: the bytes written to the disk grow to %.2f x, more than %.1f x, for %d x as many chats", grows, mostWritten, growthFactor)
	}
	return nil
}

// growthRatio prints two figures, and fails where the cpu grows too much.
func growthRatio(label string, small, large figure, most float64) error {
	grows := float64(large.cpu) / float64(small.cpu)
	fmt.Printf("  %-38s cpu %9s -> %9s  ratio %5.2f (at most %.1f)  wall %9s -> %9s  peak %s -> %s\n", label,
		ms(small.cpu), ms(large.cpu), grows, most, ms(small.wall), ms(large.wall), mb(small.peak), mb(large.peak))
	if grows > most {
		return fmt.Errorf("%s: the cpu grows to %.2f x, more than %.1f x, in a store that is %d x as large", label, grows, most, growthFactor)
	}
	return nil
}

// treeSize is the room that the files of a folder take by their sizes.
func treeSize(dir string) (size int64, err error) {
	err = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}
