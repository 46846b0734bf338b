// Command floor is the least that a program can do to ask a model: it sends
// the request, decodes each chunk of the answer, and writes its text at once.
// The figures of fettle are ratios to it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
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
