package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/internal/float32s"
)

const (
	// passagesPerDocument and passageBytes shape the documents: a passage of fettle has at
	// most 1,200 bytes, and each paragraph here becomes one.
	passagesPerDocument = 1000
	passageBytes        = 1000
	// vectorNumbers is the length of the vectors of nomic-embed-text and of many others.
	vectorNumbers = 768
	passageRuns   = 3
	// mostPassages is the law of a search in documents: linear in the number of passages.
	mostPassages = 1.4
)

// passageSizes are the numbers of passages that are compared.
var passageSizes = []int{1000, 10_000, 100_000}

// runDocs is growthPassages by itself.
func runDocs(l *lab) error {
	m, err := startModel(1)
	if err != nil {
		return err
	}
	defer m.close()
	return growthPassages(l, m.base)
}

// growthPassages prints what embedding and searching documents costs, and fails where the
// cost grows faster than the number of passages. The peak includes the pages of the store's
// files that are mapped while the vectors are read; the operating system can drop these.
func growthPassages(l *lab, base string) error {
	var before []figure
	var slow []error
	for _, n := range passageSizes {
		name := fmt.Sprintf("passages-%d", n)
		files, err := l.writePassages(name, n)
		if err != nil {
			return err
		}
		env := append(l.env(name, base), "FETTLE_EMBEDDING=openai/e")
		if _, err := l.runOnce(program{"docs add", append([]string{l.fettle, "docs", "add"}, files...), env, nil}); err != nil {
			return err
		}
		search := []string{l.fettle, "docs", "search", "-n", "5"}
		rare := append(search, "quokka", "gadora")
		first, err := l.runOnce(program{"the first search", rare, env, nil})
		if err != nil {
			return err
		}
		figures, err := l.measure([]program{
			{"search by meaning", rare, env, nil}, {"search by words", append(search, "--words", "quokka", "gadora"), env, nil},
		}, passageRuns)
		if err != nil {
			return err
		}
		figures = append([]figure{first}, figures...)
		for i, label := range []string{"first search", "search by meaning", "search by words"} {
			f := figures[i]
			fmt.Printf("  %-38s cpu %9s  wall %9s  peak %s\n", fmt.Sprintf("%d passages: %s", n, label), ms(f.cpu), ms(f.wall), mb(f.peak))
			if before == nil {
				continue
			}
			if grows := float64(f.cpu) / float64(before[i].cpu); grows > 10*mostPassages {
				slow = append(slow, fmt.Errorf("%s: the cpu grows to %.1f x for 10 x as many passages", label, grows))
			}
		}
		before = figures
	}
	return errors.Join(slow...)
}

// writePassages writes documents with n passages together. The first one has a rare word.
func (l *lab) writePassages(name string, n int) (files []string, err error) {
	dir := filepath.Join(l.dir, name+"-files")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for at := 0; at < n; at += passagesPerDocument {
		files = append(files, filepath.Join(dir, fmt.Sprintf("d%d.md", at)))
		if err := writePassageFile(files[len(files)-1], at); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func writePassageFile(path string, first int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(5, uint64(first)))
	for i := range passagesPerDocument {
		if first == 0 && i == 0 {
			fmt.Fprint(w, "a quokka ")
		}
		for size := 0; size < passageBytes-200; {
			text := prose(r)
			text = text[:min(len(text), passageBytes-size)]
			size += len(text)
			fmt.Fprintln(w, text)
		}
		fmt.Fprintln(w)
	}
	return errors.Join(w.Flush(), f.Close())
}

// embeddings answers POST /embeddings with a vector for each text that its content decides.
func embeddings(w http.ResponseWriter, r *http.Request) {
	var in struct{ Input json.RawMessage }
	err := json.NewDecoder(r.Body).Decode(&in)
	texts := make([]string, 1) // one text is a string, too
	if err == nil && json.Unmarshal(in.Input, &texts[0]) != nil {
		err = json.Unmarshal(in.Input, &texts)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"object":"list","model":"e","data":[`)
	for i, text := range texts {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		h := fnv.New64a()
		h.Write([]byte(text))
		random := rand.New(rand.NewPCG(7, h.Sum64()))
		v := make([]float32, vectorNumbers)
		for k := range v {
			v[k] = random.Float32() - 0.5
		}
		fmt.Fprintf(w, `{"object":"embedding","index":%d,"embedding":%q}`, i, base64.StdEncoding.EncodeToString(float32s.Append(nil, v)))
	}
	fmt.Fprint(w, `],"usage":{"prompt_tokens":1,"total_tokens":1}}`)
}
