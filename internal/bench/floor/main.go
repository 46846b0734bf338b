// Command floor is the least that a program can do to ask a model: it sends
// the request, decodes each chunk of the answer, and writes its text at once.
// The figures of fettle are ratios to it.
//
// As `floor -proxy URL` it is the least that passes streams on (proxy.go).
//
// As `floor -measure PROGRAM ARGS…` it runs another program and writes what
// that took to its third file descriptor. A small parent is needed for that:
// Linux counts into a child's peak memory what its parent held at the fork.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	do := run
	switch os.Args[1] {
	case "-measure":
		do = func(string, string) error { return measure(os.Args[2:]) }
	case "-proxy":
		do = func(_, to string) error { return proxy(to) }
	}
	if err := do(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

type chunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
}

func run(base, prompt string) error {
	body, err := json.Marshal(map[string]any{
		"model": "m", "stream": true,
		"messages": []map[string]string{{"role": "user", "content": prompt}},
	})
	if err != nil {
		return err
	}
	resp, err := http.Post(base+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return err
		}
		for _, choice := range c.Choices {
			if _, err := os.Stdout.WriteString(choice.Delta.Content); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// taken is what a program took; the bench command reads it.
type taken struct {
	WallNS, CPUNS, Peak, Written int64
	Exit                         int
}

func measure(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	begun := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	t := taken{
		WallNS: int64(time.Since(begun)),
		CPUNS:  int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()),
		Peak:   peakMemory(cmd.ProcessState), Written: written(cmd.ProcessState), Exit: cmd.ProcessState.ExitCode(),
	}
	return json.NewEncoder(os.NewFile(3, "figures")).Encode(t)
}
