package input

import (
	"bytes"
	"strconv"
	"strings"
)

// Compose sets standard input before the prompt, in a block of its own:
//
//	<stdin>
//	…
//	</stdin>
//
//	the prompt
//
// Where the text has something in it that looks like the block's tags, in any
// case and with spaces or a number, the tags get a number that isn't among
// them (<stdin-2>), so that no text can end its block. Without a prompt the
// text is the prompt, as it is; without text the prompt is.
func Compose(stdin []byte, prompt string) string {
	if len(stdin) == 0 {
		return prompt
	}
	if strings.TrimSpace(prompt) == "" {
		return string(stdin)
	}
	return Block(stdin) + "\n\n" + prompt
}

// Block is the block that Compose sets before the prompt.
func Block(stdin []byte) string {
	tag := fence(stdin)
	var b strings.Builder
	b.Grow(len(stdin) + 2*len(tag) + 8)
	b.WriteString("<" + tag + ">\n")
	b.Write(stdin)
	if !bytes.HasSuffix(stdin, []byte{'\n'}) {
		b.WriteByte('\n')
	}
	b.WriteString("</" + tag + ">")
	return b.String()
}

// fence is a name of tags that the text doesn't have.
func fence(text []byte) string {
	taken := map[int]bool{}
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 {
			break
		}
		text = text[i+1:]
		for len(text) > 0 && strings.IndexByte("/ \t\r\n\v\f", text[0]) >= 0 {
			text = text[1:]
		}
		if len(text) < len(tagName) || !strings.EqualFold(string(text[:len(tagName)]), tagName) {
			continue
		}
		text = text[len(tagName):]
		taken[number(text)] = true
	}
	if len(taken) == 0 {
		return tagName
	}
	n := 2
	for taken[n] {
		n++
	}
	return tagName + "-" + strconv.Itoa(n)
}

const tagName = "stdin"

// number is that of a tag after its name: 1 where there is none. A number with
// more digits than a text has tags for is never one of ours.
func number(text []byte) int {
	const digits = 9
	if len(text) == 0 || text[0] != '-' {
		return 1
	}
	n := 1
	for n < len(text) && n <= digits && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	v, _ := strconv.Atoi(string(text[1:n]))
	return v
}
